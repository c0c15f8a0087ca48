/** Put in by bundle.js from package.json. */
declare const REVERSI_VERSION: string;

export const version: string = REVERSI_VERSION;
