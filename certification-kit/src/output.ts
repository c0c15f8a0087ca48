const streams = ["stdout", "stderr"] as const;
const methods = ["log", "info", "warn", "error", "debug"] as const;

const listeners = new Set<string[]>();
let restore: (() => void)[] = [];
const tell = (text: string) => {
  for (const printed of listeners) printed.push(text);
};

function listen(): void {
  for (const name of streams) {
    const stream = process[name];
    const write = stream.write;
    stream.write = ((...parameters: unknown[]) => {
      tell(String(parameters[0]));
      return Reflect.apply(write, stream, parameters);
    }) as typeof write;
    restore.push(() => {
      stream.write = write;
    });
  }
  const { console } = globalThis;
  for (const name of methods) {
    const method = console[name];
    console[name] = (...parameters: unknown[]) => {
      tell(parameters.map(String).join(" "));
      method.apply(console, parameters);
    };
    restore.push(() => {
      console[name] = method;
    });
  }
}

/** Takes down all that this process prints until `end()`, and lets it pass. */
export function captureOutput() {
  const printed: string[] = [];
  if (listeners.size === 0) listen();
  listeners.add(printed);
  return {
    text: () => printed.join("\n"),
    end() {
      listeners.delete(printed);
      if (listeners.size > 0) return;
      for (const step of restore) step();
      restore = [];
    },
  };
}
