/** A stand-in backend, strict as the real one, that needs no credential from anybody. */
export interface Sandbox<Options extends object> {
  /** What `create` needs to work on it. A credential in it is really checked. */
  readonly options: Options;
  /** Where another process finds it: a URL or a folder. */
  readonly address: string;
  /** Everything in it that a user could see, as plain JSON. */
  state(): Promise<unknown>;
  close(): Promise<void>;
}

/** What a connector package exports as `./sandbox`. */
export interface SandboxModule<Options extends object> {
  sandbox(): Promise<Sandbox<Options>>;
  /** Options for a sandbox that runs already, in whichever process. */
  attach(address: string): Options;
}
