// undici's entry loads fetch, caches, WebSocket and more, which doubles the time to the first request.
declare module "undici/lib/dispatcher/pool.js" {
  export { Pool as default } from "undici";
}
declare module "undici/lib/core/connect.js" {
  export { buildConnector as default } from "undici";
}
