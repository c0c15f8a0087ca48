/** Runs work on the same names one after the other, in the order asked, and all other work at once. */
export type Exclusively = <T>(names: readonly string[], work: () => Promise<T>) => Promise<T>;

export function createLocks(): Exclusively {
  const last = new Map<string, Promise<unknown>>();
  return (names, work) => {
    const before = names.flatMap((name) => last.get(name) ?? []);
    const working = before.length === 0 ? work() : Promise.all(before).then(work);
    const ended = working.then(
      () => {},
      () => {},
    );
    for (const name of names) last.set(name, ended);
    ended.then(() => {
      for (const name of names) if (last.get(name) === ended) last.delete(name);
    });
    return working;
  };
}
