import { azurite } from "../azurite.js";
import { certifies, checksAnywhere } from "../certification.js";
import { software } from "../support.js";

/** Azure's own words for what goes wrong on the wire: a HEAD has them in a header alone. */
const codes = {
  401: "InvalidAuthenticationInfo",
  403: "AuthorizationPermissionMismatch",
  412: "ConditionNotMet",
};
const codeOf = (status) => codes[status] ?? (status >= 500 ? "InternalError" : "InvalidInput");
const errorXml = (code, message) => {
  const text = message.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  return `<?xml version="1.0" encoding="utf-8"?><Error><Code>${code}</Code><Message>${text}</Message></Error>`;
};
const failure = (status, code) => ({
  status,
  headers: { "x-ms-error-code": code },
  body: errorXml(code, "refused on the way"),
});

certifies("azure", software("azurite"), {
  start: azurite,
  // Not `permission_denial`: Azurite takes every token.
  checks: [...checksAnywhere, "guard", "residue"],
  vendor: {
    errorBody: (status, message) => errorXml(codeOf(status), message),
    rateLimit: () => failure(503, "ServerBusy"),
  },
  wire: (server) => ({
    inject(fault, skip, times) {
      if (fault.kind !== "deny") return false;
      const status = Number(fault.status);
      server.inject({ kind: "status", ...failure(status, codeOf(status)), effect: false }, { skip, times });
      return true;
    },
  }),
  replaced: ({ calls, residue, credential }) => ({
    ...{ calls, credential },
    residue: { ...residue, etag: "Azurite tells nobody of changes" },
  }),
});
