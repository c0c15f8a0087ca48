import type { CallScope } from "@reversi-connector/core";
import { hasHandles } from "./folder.ts";
import { createLocks, type Exclusively } from "./locks.ts";
import { segmentsBelow } from "./paths.ts";
import { openStore, type Store } from "./store.ts";
import { openRoot, openTree, type Place, type Tree } from "./tree.ts";

/** A root with its backups: all that the work on files needs. */
export interface Volume {
  readonly tree: Tree;
  readonly store: Store;
  readonly exclusively: Exclusively;
  /** Directories that were searched for what a crash left. */
  readonly swept: Set<string>;
  close(): void;
}

/** What a change is told beside its arguments. */
export interface Change<Kept> extends Pick<CallScope, "signal"> {
  checkpoint(known: { readonly result: Kept }): Promise<void>;
}

/** Calls on one name in one directory wait for each other, by whatever path they came. */
export const lockOf = ({ folder, name }: Place): string => `${folder.dev}:${folder.ino}/${name}`;

/** A place to change something at. The first one makes the backup directory, so that nothing can be put in its stead. */
export function placeToChange({ tree, store }: Volume, path: string, argument = "path"): Place {
  segmentsBelow(path, argument);
  store.make();
  return tree.place(path, argument);
}

/** `handles` says how directories are held; it is decided by the platform. */
export function openVolume(
  options: { readonly root: string; readonly backupDir?: string | undefined },
  handles: boolean = hasHandles,
): Volume {
  const root = openRoot(options.root, handles);
  const store = openStore(root, options.backupDir, handles);
  return {
    tree: openTree(root, () => store.identity()),
    store,
    exclusively: createLocks(),
    swept: new Set(),
    close: () => {
      store.close();
      root.folder.close();
    },
  };
}
