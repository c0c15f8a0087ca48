import { asTable, certify, isCertified } from "../src/index.ts";
import { healthy } from "./toy/subject.ts";

test("a healthy connector passes everything", async () => {
  const certification = await certify(healthy);
  console.log(asTable([certification]));
  expect(isCertified(certification)).toBe(true);
}, 120_000);
