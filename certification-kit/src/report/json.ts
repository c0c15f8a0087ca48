import type { Certification } from "../result.ts";

/** Certifications as JSON, for programs. */
export const asJson = (certifications: readonly Certification[]): string =>
  `${JSON.stringify(certifications, undefined, 2)}\n`;
