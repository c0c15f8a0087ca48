import {
  contentLimit,
  decodeContent,
  encodeContent,
  InvalidArgumentsError,
  mediaTypeOf,
} from "../src/index.ts";

test("bytes come back as they went, as text where they are UTF-8 and always in Base64", () => {
  for (const bytes of [Buffer.from("\ufeffü\r\n\0"), Buffer.alloc(0), Buffer.from([0, 255, 254])]) {
    const content = encodeContent(bytes, "base64") ?? "";
    expect(decodeContent({ content, encoding: "base64" })).toEqual(bytes);
    const text = encodeContent(bytes, "text");
    if (text !== undefined) expect(decodeContent({ content: text, encoding: "text" })).toEqual(bytes);
  }
  expect(encodeContent(Buffer.from([0xc3]), "text")).toBeUndefined();
});

test.each(["YQ", "YQ= =", "YQ==\n", "YR==", "_w==", "a b"])(
  "%j is no Base64 in its one standard form, and is refused by name",
  (content) => {
    const refused = () => decodeContent({ content, encoding: "base64" });
    expect(refused).toThrow(InvalidArgumentsError);
    expect(refused).toThrow(/^content must be base64 .*; nothing was sent$/);
  },
);

test("5 MiB are taken, one byte more is refused, however few characters it has", () => {
  expect(decodeContent({ content: "ü".repeat(contentLimit / 2), encoding: "text" })).toHaveLength(
    contentLimit,
  );
  expect(() => decodeContent({ content: `${"ü".repeat(contentLimit / 2)}a`, encoding: "text" })).toThrow(
    "content must have at most 5242880 bytes (5 MiB), and has 5242881",
  );
});

test("a media type goes by the encoding where none is given, and is never what a header cannot carry", () => {
  expect(mediaTypeOf({ content: "", encoding: "text" })).toBe("text/plain; charset=utf-8");
  expect(mediaTypeOf({ content: "", encoding: "base64" })).toBe("application/octet-stream");
  expect(mediaTypeOf({ content: "", encoding: "text", content_type: "text/html" })).toBe("text/html");
  expect(() => mediaTypeOf({ content: "", encoding: "text", content_type: "text/html; a=\r\nb" })).toThrow(
    /^content_type must be ASCII/,
  );
});
