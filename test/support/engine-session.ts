import type { LoggedEvent, SessionEvent } from "../../src/core/events.ts";
import { uuidv7 } from "../../src/core/ids.ts";
import { textOf } from "../../src/core/messages.ts";
import { sessionFile, workspaceId } from "../../src/session/home.ts";
import { Recorder } from "../../src/session/recorder.ts";
import { type RunReport, Session } from "../../src/session/session.ts";
import { openWorkspace } from "../../src/workspace/workspace.ts";
import { providerFor } from "./engine.ts";
import { Scene } from "./run.ts";
import { strict } from "./strict-model.ts";

type ResultEvent = Extract<LoggedEvent, { type: "tool_result" }>;

/** A session of several prompts with a scripted, strict model and real tools in a container. */
export class EngineSession implements AsyncDisposable {
  readonly scene: Scene;
  readonly session: Session;
  readonly #recorder: Recorder;
  readonly #seen: SessionEvent[];
  /** Called with each event. */
  onEvent: (event: SessionEvent) => void = () => undefined;

  private constructor(scene: Scene, session: Session, recorder: Recorder, seen: SessionEvent[]) {
    [this.scene, this.session, this.#recorder, this.#seen] = [scene, session, recorder, seen];
  }

  static async open(script: string): Promise<EngineSession> {
    const scene = await Scene.create();
    const options = scene.options(script, providerFor());
    const workspace = await openWorkspace(scene.root, { userHome: options.userHome, gloveboxHome: options.home.root });
    const id = uuidv7();
    const seen: SessionEvent[] = [];
    let opened: EngineSession | undefined;
    const recorder = await Recorder.create({
      path: sessionFile(options.home, workspaceId(workspace.root), id),
      header: {
        type: "session",
        version: 1,
        id,
        created_at: new Date().toISOString(),
        cwd: workspace.root,
        workspace_id: workspaceId(workspace.root),
        app_version: options.version,
      },
      secrets: options.secrets,
      onEvent: (event) => {
        seen.push(event);
        opened?.onEvent(event);
      },
    });
    const model = strict(options.model);
    const session = await Session.open({ ...options, model, workspace, recorder, secretHashes: [] });
    opened = new EngineSession(scene, session, recorder, seen);
    return opened;
  }

  run(prompt: string, signal = new AbortController().signal): Promise<RunReport> {
    return this.session.run(prompt, signal);
  }

  /** All results so far, in their order. */
  get results(): ResultEvent[] {
    return this.#seen.filter((event): event is ResultEvent => event.type === "tool_result");
  }

  /** What the model read of each result. */
  get texts(): string[] {
    return this.results.map(({ content }) => textOf(content));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.session.close();
    await this.#recorder.close();
    await this.scene[Symbol.asyncDispose]();
  }
}
