/** A request that the vendor's stand-in answered, and its answer. */
export interface Exchange {
  readonly method: string;
  /** As on the request line, query included. */
  readonly path: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** It was malformed on purpose: only its answer counts. */
  readonly malformed: boolean;
  readonly answer: {
    readonly status: number;
    /** Names in lower case. */
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
  };
}

/** What the vendor has published about its API. */
export interface Contract {
  /** What it is, with its version. */
  readonly title: string;
  /** Everything in an exchange that does not fit, one sentence each. */
  judge(exchange: Exchange): readonly string[];
  /**
   * Where connector or stand-in knowingly differ: such a sentence, `*` for any text in it, and the reason. One that
   * nothing meets any more is a failure.
   */
  readonly deviations?: Readonly<Record<string, string>>;
}

/** What was found over a whole run. */
export interface Judged {
  readonly exchanges: number;
  /** Sentences that no deviation explains, with how often they were true, and deviations that explain none. */
  readonly wrong: readonly string[];
}

const matcher = (pattern: string) =>
  new RegExp(
    `^${pattern
      .split("*")
      .map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"))
      .join(".*")}$`,
    "s",
  );

/** Holds every exchange against the contract. `whole`: everything was tried, so what was not met is not there. */
export function judge(contract: Contract, { whole }: { readonly whole: boolean }) {
  const known = Object.keys(contract.deviations ?? {}).map((text) => ({ text, matches: matcher(text) }));
  const met = new Set<string>();
  const found = new Map<string, number>();
  let exchanges = 0;
  return {
    take(exchange: Exchange): void {
      exchanges++;
      for (const sentence of contract.judge(exchange)) {
        const deviation = known.find(({ matches }) => matches.test(sentence));
        if (deviation) met.add(deviation.text);
        else found.set(sentence, (found.get(sentence) ?? 0) + 1);
      }
    },
    verdict(): Judged {
      const stale = known.filter(({ text }) => whole && !met.has(text));
      return {
        exchanges,
        wrong: [
          ...[...found].map(([sentence, times]) => (times > 1 ? `${sentence} (${times} times)` : sentence)),
          ...stale.map(({ text }) => `nothing deviates there any more: ${text}`),
        ],
      };
    },
  };
}
