export function casesIn(root: string): Map<string, Set<string>>;
export function caseTable(root: string): string;
