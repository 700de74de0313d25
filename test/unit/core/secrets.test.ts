import { inspect } from "node:util";
import { expect, test } from "vitest";
import { Secret, Secrets, takeSecrets } from "../../../src/core/secrets.ts";

const CANARY = "sk-CANARY/0123+456=";

test("a secret shows itself nowhere", () => {
  const secret = new Secret(CANARY);
  expect([`${secret}`, String(secret), JSON.stringify({ secret }), inspect({ secret }), inspect(secret)]).toEqual([
    "***",
    "***",
    '{"secret":"***"}',
    "{ secret: *** }",
    "***",
  ]);
  expect([Object.keys(secret), structuredClone(secret), secret.reveal()]).toEqual([[], {}, CANARY]);
});

test("what looks like a credential is taken out of the environment", () => {
  const env: Record<string, string | undefined> = {
    OPENAI_API_KEY: CANARY,
    GH_TOKEN: "ghp-CANARY",
    AWS_SECRET_ACCESS_KEY: "aws-CANARY",
    db_password: "db-CANARY",
    EMPTY_TOKEN: "",
    OPENAI_BASE_URL: "http://127.0.0.1/v1",
    PATH: "/bin",
    TOKENIZERS: "x",
    SSH_AUTH_SOCK: "/tmp/agent",
  };
  const secrets = takeSecrets(env);
  expect([env, secrets.get("GH_TOKEN")?.reveal(), secrets.get("EMPTY_TOKEN"), secrets.hashes().length]).toEqual([
    { OPENAI_BASE_URL: "http://127.0.0.1/v1", PATH: "/bin", TOKENIZERS: "x", SSH_AUTH_SOCK: "/tmp/agent" },
    "ghp-CANARY",
    undefined,
    4,
  ]);
});

const secrets = new Secrets({ KEY: CANARY, LONGER: `${CANARY}-and-more`, SHORT: "none" });

const FORMS: [string, string][] = [
  ["plain", CANARY],
  ["URL-encoded", encodeURIComponent(CANARY)],
  ["in base64", Buffer.from(CANARY).toString("base64")],
  ["in base64 after one byte", Buffer.from(`:${CANARY}`).toString("base64")],
  ["in base64 after two bytes", Buffer.from(`::${CANARY}:`).toString("base64")],
  ["in base64url", Buffer.from(`user:${CANARY}`).toString("base64url")],
];

test.each(FORMS)("a secret is masked %s", (_, form) => {
  const masked = secrets.mask(`before ${form} none after`);
  expect(masked).toMatch(/^before [\w+/=-]{0,8}\*\*\*[\w+/=-]{0,4} none after$/);
});

test("of two secrets that begin alike, nothing of the longer one stays", () => {
  expect(secrets.mask(`${CANARY}-and-more, ${CANARY}`)).toBe("***, ***");
});

test("without secrets a text stays as it is", () => {
  expect(new Secrets().mask("text")).toBe("text");
});
