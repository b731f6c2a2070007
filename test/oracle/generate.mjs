// Prints random and hostile cases, one JSON object a line, each with the judgement of the
// platform's official library. Usage: node generate.mjs COUNT [SEED]
//
// A case has the member "official": what the library says. "want" is what the service must
// say: the same, except that it also refuses what the library leaves to its caller. Each
// such rule is written here a second time, independently of the service.
import { createHmac } from "node:crypto";
import "@shopify/shopify-api/adapters/web-api";
import { ApiVersion, LogSeverity, shopifyApi } from "@shopify/shopify-api";

const count = Number(process.argv[2] ?? 100);
let seed = Number(process.argv[3] ?? 1) >>> 0;

// mulberry32: the same seed gives the same cases.
function random() {
  seed = (seed + 0x6d2b79f5) >>> 0;
  let t = seed;
  t = Math.imul(t ^ (t >>> 15), t | 1);
  t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
}
const below = (n) => Math.floor(random() * n);
const pick = (list) => list[below(list.length)];
const chance = (p) => random() < p;
const text = (letters, least, most) => Array.from({ length: least + below(most - least + 1) }, () => pick(letters)).join("");

const lower = [..."abcdefghijklmnopqrstuvwxyz"];
const digits = [..."0123456789"];
const plain = [...lower, ...digits];
const odds = [...plain, " ", "+", "&", "=", "%", ";", ",", "/", "?", "#", "@", ":", "'", '"', "<", ">", "~", "*", "(", ")", "!", ".", "-", "_", "é", "漢", "🙂", "\n", "\t", "\\", "|", "[", "]"];

const clients = ["5a5f0c1f4b8e4a1d8f3e2b1c0d9e8f70", "another-client"];
const secrets = ["hush", "shpss_0123456789abcdef"];
const apis = new Map();
function api(client, secret) {
  const key = client + " " + secret;
  if (!apis.has(key)) {
    apis.set(key, shopifyApi({
      apiKey: client, apiSecretKey: secret, hostName: "app.example", apiVersion: ApiVersion.October25 ?? ApiVersion.Unstable, isEmbeddedApp: true,
      logger: { level: LogSeverity.Error, log: () => {} },
    }));
  }
  return apis.get(key);
}

const realNow = Date.now;
async function at(seconds, judge) {
  Date.now = () => seconds * 1000;
  const RealDate = globalThis.Date;
  globalThis.Date = class extends RealDate {
    constructor(...args) { args.length ? super(...args) : super(seconds * 1000); }
    static now() { return seconds * 1000; }
  };
  try {
    return await judge();
  } catch {
    return false;
  } finally {
    globalThis.Date = RealDate;
    Date.now = realNow;
  }
}

const hex = (secret, message) => createHmac("sha256", secret).update(message).digest("hex");
const shopName = () => text(plain, 1, 1) + text([...plain, "-", "-", "_"], 0, 20);
const domain = () => shopName() + ".myshopify.com";

function hostileShop() {
  const d = domain();
  return pick([
    () => d, () => d, () => d.toUpperCase(), () => d + "/", () => d + "///", () => shopName().toUpperCase() + ".myshopify.com", () => "-" + d, () => "_" + d, () => "." + d,
    () => "a." + d, () => d + ".evil.example", () => "evil.example/" + d, () => d + "/admin", () => d + ":443", () => "user@" + d, () => "https://" + d, () => d + "\n", () => "\n" + d, () => " " + d,
    () => d + " ", () => d.replace(".", "%2e"), () => d.replace("myshopify", "myshopify\u0000"), () => shopName() + ".myshopify.io", () => shopName() + ".shopify.com", () => shopName() + ".shop.dev",
    () => shopName() + ".MyShopify.com", () => "admin.shopify.com/store/" + shopName(), () => "admin.shopify.com/store/" + shopName() + "/", () => "admin.shopify.com/store/" + shopName() + "/x",
    () => "admin.shopify.com/store/", () => "ADMIN.shopify.com/store/" + shopName(), () => "https://admin.shopify.com/store/" + shopName(), () => "", () => "myshopify.com", () => ".myshopify.com",
    () => "\u212a" + d, () => "é" + d, () => d.replace(".com", ".community"), () => d.replace(".", ""), () => text(odds, 0, 30), () => text(odds, 1, 10) + ".myshopify.com", () => "admin.myshopify.io/store/" + shopName(),
    () => "admin.shopify.com/store/-" + shopName(),
  ])();
}

// ours is the domain by which the service knows a store, or "": it serves stores of one
// domain of the platform, and writes them in lower case.
function ours(official, shop) {
  if (!official || shop.startsWith("admin.") && shop.includes("/store/") && !shop.startsWith("admin.shopify.com/")) return "";
  const name = official.replace(/\/+$/, "").toLowerCase();
  return name.endsWith(".myshopify.com") ? name : "";
}

function shops() {
  const shop = hostileShop();
  let official = "";
  try {
    official = api(clients[0], secrets[0]).utils.sanitizeShop(shop) ?? "";
  } catch {
    official = "";
  }
  return { kind: "shop", text: shop, official: official !== "", want: ours(official, shop) };
}

// pairs writes parameters as a browser might.
const pairs = (list) => list.map(([k, v]) => {
  const written = encodeURIComponent(v);
  return encodeURIComponent(k) + "=" + (chance(0.2) ? written.replaceAll("%20", "+") : written);
}).join("&");

function shuffled(list) {
  for (let i = list.length - 1; i > 0; i--) {
    const j = below(i + 1);
    [list[i], list[j]] = [list[j], list[i]];
  }
  return list;
}

// mutated changes a text a little.
function mutated(s) {
  const i = below(s.length + 1);
  return pick([
    () => s.slice(0, i) + pick(plain) + s.slice(i + 1), () => s.slice(0, i) + s.slice(i + 1), () => s + pick(plain), () => s.toUpperCase(), () => s.slice(0, -1), () => "", () => s + " ", () => s.split("").reverse().join(""),
  ])().toWellFormed(); // an emoji may have been cut in two
}

const now = () => 1_780_000_000 + below(10_000_000);
const drift = () => pick([0, 0, 0, 1, -1, 89, 90, 91, -89, -90, -91, 10_000, -10_000]);
const timestamp = (t) => chance(0.9) ? String(t) : pick(["", " ", "abc", "1e9", t + ".0", t + ".5", "+" + t, " " + t, "0x10", "-1", "9".repeat(25), t + "n", "0" + t]);
const usual = (t) => /^[+-]?\d{1,18}$/.test(t);
const once = (list, ...names) => names.every((n) => list.filter(([k]) => k === n).length === 1);

// The two messages, as the platform documents them.
const adminMessage = (list) => {
  const joined = new Map();
  for (const [k, v] of list) joined.set(k, joined.has(k) ? joined.get(k) + "," + v : v);
  const q = new URLSearchParams();
  for (const k of [...joined.keys()].sort()) q.append(k, joined.get(k));
  return q.toString().replaceAll("+", "%20");
};
const proxyMessage = (list) => {
  const joined = new Map();
  for (const [k, v] of list) joined.set(k, joined.has(k) ? joined.get(k) + "," + v : v);
  return [...joined.keys()].sort().map((k) => k + "=" + joined.get(k)).join("");
};

async function oauth() {
  const secret = pick(secrets), t = now(), shop = chance(0.8) ? domain() : hostileShop(), stamp = timestamp(t + drift());
  let list = [["code", text(plain, 1, 32)], ["shop", shop], ["state", chance(0.9) ? text(plain, 1, 32) : text(odds, 1, 20)], ["timestamp", stamp]];
  if (chance(0.7)) list.push(["host", Buffer.from("admin.shopify.com/store/" + shopName()).toString("base64")]);
  for (let i = below(3); i > 0; i--) list.push([text(lower, 3, 10), text(odds, 0, 20)]);
  if (chance(0.1)) list.push([pick(list)[0], text(plain, 0, 8)]);
  let hmac = hex(chance(0.95) ? secret : "other", adminMessage(list));
  if (chance(0.1)) list = list.map(([k, v]) => [k, chance(0.3) ? mutated(v) : v]);
  if (chance(0.05)) list.push(["signature", text(plain, 1, 64)]);
  if (chance(0.1)) hmac = mutated(hmac);
  if (chance(0.97)) list.push(["hmac", hmac]);
  if (chance(0.03)) list.push(["hmac", text(plain, 1, 64)]);
  const query = pairs(shuffled(list));
  const params = new URLSearchParams(query), sent = [...params.entries()];
  const lib = api(clients[0], secret);
  const official = await at(t, () => lib.utils.validateHmac(params, { signator: "admin" }));
  let known = "";
  try {
    known = ours(lib.utils.sanitizeShop(params.get("shop") ?? ""), params.get("shop") ?? "");
  } catch {
    known = "";
  }
  const want = official === true && new Set(sent.map(([k]) => k)).size === sent.length && usual(params.get("timestamp") ?? "") && known !== "";
  return { kind: "oauth", secret, query, now: t, official: official === true, want };
}

async function proxy() {
  const secret = pick(secrets), t = now(), stamp = timestamp(t + drift());
  let list = [["shop", chance(0.9) ? domain() : hostileShop()], ["path_prefix", "/apps/" + text(plain, 1, 12)], ["timestamp", stamp], ["logged_in_customer_id", pick(["", String(1 + below(1e9)), "7001"])]];
  for (let i = below(4); i > 0; i--) {
    const name = text(lower, 3, 10);
    for (let n = 1 + below(2); n > 0; n--) list.push([name, text(odds, 0, 20)]);
  }
  if (chance(0.15)) list.push([pick(list)[0], text(plain, 0, 8)]);
  if (chance(0.05)) list = list.filter(([k]) => k !== pick(["shop", "path_prefix", "logged_in_customer_id"]));
  let signature = hex(chance(0.95) ? secret : "other", proxyMessage(list));
  if (chance(0.1)) list = list.map(([k, v]) => [k, chance(0.3) ? mutated(v) : v]);
  if (chance(0.1)) signature = mutated(signature);
  if (chance(0.97)) list.push(["signature", signature]);
  if (chance(0.03)) list.push(["signature", text(plain, 1, 64)]);
  const query = pairs(list);
  const params = new URLSearchParams(query), sent = [...params.entries()];
  const official = await at(t, () => api(clients[0], secret).utils.validateHmac(params, { signator: "appProxy" }));
  const shop = params.get("shop") ?? "", customer = params.get("logged_in_customer_id") ?? "x";
  const want = official === true && once(sent, "shop", "path_prefix", "timestamp", "logged_in_customer_id", "signature") && usual(params.get("timestamp")) &&
    /^[a-z0-9][a-z0-9_-]*\.myshopify\.com$/i.test(shop) && (customer === "" || /^[1-9]\d{0,14}$/.test(customer));
  return { kind: "proxy", secret, query, now: t, official: official === true, want };
}

const b64 = (value) => Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64url");

async function session() {
  const secret = pick(secrets), client = pick(clients), t = now(), shop = domain();
  const claims = { iss: `https://${shop}/admin`, dest: `https://${shop}`, aud: client, sub: String(below(1e6)), exp: t + 60, nbf: t, iat: t, jti: text(plain, 8, 8), sid: text(plain, 8, 8) };
  const edge = () => t + pick([-3600, -61, -11, -10, -9, -1, 0, 1, 9, 10, 11, 61, 3600]);
  const hostile = [
    () => { claims.exp = edge(); }, () => { claims.nbf = edge(); }, () => { claims.iat = edge(); }, () => { claims.exp = edge(); claims.nbf = edge(); },
    () => { claims.aud = pick([clients[0], clients[1], [client], [client, "x"], "", null, 5, client + " ", client.toUpperCase()]); }, () => { delete claims[pick(Object.keys(claims))]; },
    () => { claims.iss = pick([`https://${domain()}/admin`, `https://${shop}`, `https://${shop}/admin/`, "", null, `http://${shop}/admin`, `https://${shop}/admin?x`]); },
    () => { claims.dest = pick([`https://${domain()}`, `https://${shop}/`, shop, `http://${shop}`, "https://evil.example", `https://${shop}.evil.example`, null]); },
    () => { const d = pick(["evil.example", "-" + shop, shop + ":443", "u@" + shop, "a." + shop]); claims.dest = "https://" + d; claims.iss = "https://" + d + "/admin"; },
    () => { claims.exp = pick(["x", null, {}, String(t + 60), -1, 1e300]); }, () => { claims.nbf = pick(["x", null, [], String(t)]); },
  ];
  if (chance(0.6)) pick(hostile)();
  const header = { alg: "HS256", typ: "JWT" };
  if (chance(0.1)) header.alg = pick(["none", "None", "NONE", "HS512", "HS384", "RS256", "hs256", "", null]);
  if (chance(0.03)) header.crit = ["b64"];
  if (chance(0.03)) header.typ = pick(["jwt", "x", ""]);
  const body = b64(header) + "." + b64(claims);
  const hash = { HS512: "sha512", HS384: "sha384" }[header.alg] ?? "sha256";
  let token = body + "." + createHmac(hash, chance(0.95) ? secret : "other").update(body).digest("base64url");
  if (chance(0.15)) {
    const parts = token.split(".");
    const i = below(parts.length);
    parts[i] = pick([() => mutated(parts[i]), () => parts[i] + "=", () => "", () => parts[i] + "AA", () => b64({ ...claims, aud: "x" })])();
    token = pick([() => parts.join("."), () => parts.slice(0, 2).join("."), () => parts.slice(0, 2).join(".") + ".", () => parts.join(".") + ".x", () => " " + parts.join("."), () => parts.join(".") + "\n"])();
  }
  const decoded = await at(t, () => api(client, secret).session.decodeSessionToken(token));
  const official = decoded !== false;
  const want = official && token === token.trim() && !/[=+/]/.test(token) && Number.isSafeInteger(decoded.exp) && Number.isSafeInteger(decoded.nbf) && typeof decoded.aud === "string" && typeof decoded.dest === "string" &&
    /^https:\/\/[a-z0-9][a-z0-9_-]*\.myshopify\.com$/.test(decoded.dest) && decoded.iss === decoded.dest + "/admin";
  return { kind: "session", secret, client, token, now: t, official, want };
}

async function webhook() {
  const secret = pick(secrets), body = JSON.stringify({ id: below(1e9), note: text(odds, 0, 40), admin_graphql_api_id: "gid://shopify/SubscriptionContract/" + (1 + below(1e6)) });
  let hmac = createHmac("sha256", chance(0.95) ? secret : "other").update(body).digest("base64");
  const headers = { "X-Shopify-Topic": "subscription_contracts/update", "X-Shopify-Shop-Domain": text(plain, 1, 20) + ".myshopify.com", "X-Shopify-API-Version": "2026-10", "X-Shopify-Webhook-Id": text(plain, 8, 36), "X-Shopify-Triggered-At": "2026-11-25T12:00:00Z" };
  if (chance(0.2)) hmac = pick([() => mutated(hmac), () => hmac.replace("=", ""), () => hmac.replaceAll("+", "-").replaceAll("/", "_"), () => Buffer.from(hmac, "base64").toString("hex"), () => hmac + hmac, () => hmac.slice(0, 42) + "B=", () => hmac.slice(0, -2) + pick([..."ABCDEFGHabcdefgh01234567"]) + "="])();
  if (chance(0.97)) headers["X-Shopify-Hmac-Sha256"] = hmac;
  if (chance(0.1)) delete headers[pick(Object.keys(headers).filter((n) => n !== "X-Shopify-Triggered-At"))];
  let sent = body;
  if (chance(0.1)) sent = pick([() => body + " ", () => body.replace("{", "{ "), () => body.replace(/\d/, "7"), () => body.slice(0, -1) + ',"x":1}', () => body.normalize("NFD") + " "])();
  const rawRequest = new Request("https://app.example/webhooks", { method: "POST", headers, body: sent });
  const result = await api(clients[0], secret).webhooks.validate({ rawBody: sent, rawRequest });
  for (const name of Object.keys(headers)) headers[name] = rawRequest.headers.get(name); // as they arrive
  return { kind: "webhook", secret, headers, body: sent, official: result.valid === true, want: result.valid === true };
}

for (const make of [shops, oauth, proxy, session, webhook]) {
  for (let i = 0; i < count; i++) {
    console.log(JSON.stringify(await make()));
  }
}
