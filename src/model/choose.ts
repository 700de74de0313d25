import { resolve } from "node:path";
import { GloveboxError } from "../core/errors.ts";
import { Secret, type Secrets } from "../core/secrets.ts";
import type { ModelClient } from "./model-client.ts";

export type ModelChoice = {
  /** `scripted:FILE`, a model name, or `PROVIDER:NAME` to say which of several keys is meant. */
  model?: string | undefined;
  /** The environment, without its secrets. */
  env: Readonly<Record<string, string | undefined>>;
  secrets: Secrets;
  /** What a relative script file is relative to. */
  cwd: string;
};

type Profile = { provider: string; keyName: string; modelName: string; baseUrl: string };

const OPENAI: Profile = {
  provider: "openai",
  keyName: "OPENAI_API_KEY",
  modelName: "OPENAI_MODEL",
  baseUrl: "https://api.openai.com/v1",
};

/** Built-in profiles in the order they are preferred in when several keys are set. */
const PROFILES: readonly Profile[] = [
  OPENAI,
  {
    provider: "openrouter",
    keyName: "OPENROUTER_API_KEY",
    modelName: "OPENROUTER_MODEL",
    baseUrl: "https://openrouter.ai/api/v1",
  },
  {
    provider: "gemini",
    keyName: "GEMINI_API_KEY",
    modelName: "GEMINI_MODEL",
    baseUrl: "https://generativelanguage.googleapis.com/v1beta/openai",
  },
];

/** The variables a key can come from, the preferred first. */
export const MODEL_KEYS: readonly string[] = PROFILES.map(({ keyName }) => keyName);

/**
 * The model a person means. Loads the packages it needs and no others (openai: 45 ms, yaml: 25 ms). Throws
 * `CREDENTIALS_MISSING`, `CREDENTIALS_REJECTED`, `USAGE`, `CONFIG_INVALID` or `SCRIPT_INVALID`. Does not retry.
 */
export async function chooseModel(choice: ModelChoice): Promise<ModelClient> {
  if (choice.model?.startsWith("scripted:")) return scriptedModel(choice.model.slice("scripted:".length), choice.cwd);
  const { profile, name } = chosenProfile(choice);
  const baseUrl = profile === OPENAI ? openaiUrl(choice) : profile.baseUrl;
  const options = {
    provider: profile.provider,
    model: modelName(name, profile, choice),
    baseUrl,
    key: keyOf(profile, choice),
    mask: (text: string) => choice.secrets.mask(text),
    ...(baseUrl === OPENAI.baseUrl && {
      organization: choice.env["OPENAI_ORG_ID"],
      project: choice.env["OPENAI_PROJECT_ID"],
      outputLimitField: "max_completion_tokens" as const,
    }),
  };
  const { createChatClient } = await import("./chat.ts");
  return createChatClient(options);
}

async function scriptedModel(file: string, cwd: string): Promise<ModelClient> {
  if (file === "") {
    throw new GloveboxError("USAGE", "`--model scripted:` names no file", { hint: "Write `--model scripted:FILE`" });
  }
  const [{ readScript }, { createScriptedClient }] = await Promise.all([
    import("./script-file.ts"),
    import("./scripted.ts"),
  ]);
  return createScriptedClient({ name: file, items: await readScript(resolve(cwd, file), file) });
}

function chosenProfile(choice: ModelChoice): { profile: Profile; name: string | undefined } {
  const { model, secrets } = choice;
  const named = PROFILES.find(({ provider }) => model?.startsWith(`${provider}:`));
  if (named && model !== undefined) return { profile: named, name: model.slice(named.provider.length + 1) };
  const usable = PROFILES.find(({ keyName }) => secrets.get(keyName) !== undefined);
  // A base URL says which server is meant, with a key or without.
  const profile = choice.env["OPENAI_BASE_URL"] ? OPENAI : usable;
  if (profile) return { profile, name: model };
  throw new GloveboxError(
    "CREDENTIALS_MISSING",
    secrets.get("ANTHROPIC_API_KEY")
      ? "`ANTHROPIC_API_KEY` is set, but the Messages API of Anthropic is not supported yet"
      : "No model can be reached: no API key is set",
    {
      hint: "Set `OPENAI_API_KEY`, `OPENROUTER_API_KEY` or `GEMINI_API_KEY`, or `OPENAI_BASE_URL` for a server without key; `--model scripted:FILE` needs none",
    },
  );
}

function keyOf({ keyName, provider }: Profile, { env, secrets }: ModelChoice): Secret {
  const key = secrets.get(keyName);
  if (!key && provider === OPENAI.provider && env["OPENAI_BASE_URL"]) return new Secret("none");
  if (!key) {
    throw new GloveboxError(
      "CREDENTIALS_MISSING",
      `The model of \`${provider}\` needs a key: \`${keyName}\` is not set`,
      {
        hint: `Set \`${keyName}\`; \`--model scripted:FILE\` needs none`,
      },
    );
  }
  // An HTTP header cannot hold it, and the error of `fetch` would quote it.
  if (!/^[\x21-\x7e]+$/.test(key.reveal())) {
    throw new GloveboxError(
      "CREDENTIALS_REJECTED",
      `The value of \`${keyName}\` is not a key: it has a space, a line end or another character no key has`,
      {
        hint: `Set \`${keyName}\` again`,
      },
    );
  }
  return key;
}

function modelName(name: string | undefined, { provider, modelName: variable }: Profile, { env }: ModelChoice): string {
  const chosen = name || env[variable];
  if (chosen) return chosen;
  throw new GloveboxError("USAGE", `No model of \`${provider}\` is named`, {
    hint: `Say which with \`--model NAME\` or \`${variable}\``,
  });
}

function openaiUrl({ env }: ModelChoice): string {
  const text = env["OPENAI_BASE_URL"]?.trim();
  if (!text) return OPENAI.baseUrl;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new GloveboxError("CONFIG_INVALID", "`OPENAI_BASE_URL` is not a web address", {
      hint: "Expected such as `http://127.0.0.1:8080/v1`",
    });
  }
  if (url.username || url.password) {
    throw new GloveboxError(
      "CONFIG_INVALID",
      "`OPENAI_BASE_URL` holds a user name or a password, which is not supported",
      {
        hint: "Put the key in `OPENAI_API_KEY`",
      },
    );
  }
  return text;
}
