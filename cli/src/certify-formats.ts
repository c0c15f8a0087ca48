/** How a certification can be printed. Apart from `certify.ts`, which loads the whole kit. */
export const formats = ["table", "json", "junit", "markdown"] as const;
export type Format = (typeof formats)[number];
