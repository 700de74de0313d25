import type { ModelClient } from "../model/model-client.ts";

/** The same model; what its responses take is added up in `watch`. */
export function timed(model: ModelClient, watch: { ms: number }): ModelClient {
  return {
    provider: model.provider,
    id: model.id,
    api: model.api,
    respond: async (request, options) => {
      const startedAt = performance.now();
      try {
        return await model.respond(request, options);
      } finally {
        watch.ms += performance.now() - startedAt;
      }
    },
  };
}
