import { type handleBidiStreamingCall, Server, ServerCredentials, type ServiceDefinition } from "@grpc/grpc-js";
import type { Identity } from "./authority.ts";

const same = (value: Buffer): Buffer => value;

/** `/test.Echo/Talk`, both ways streaming, of plain bytes: no compiler of schemas is needed. */
export const ECHO = {
  talk: {
    path: "/test.Echo/Talk",
    requestStream: true,
    responseStream: true,
    requestSerialize: same,
    requestDeserialize: same,
    responseSerialize: same,
    responseDeserialize: same,
  },
} satisfies ServiceDefinition;

const talk: handleBidiStreamingCall<Buffer, Buffer> = (call) => {
  call.on("data", (message: Buffer) => call.write(message));
  call.on("end", () => call.end());
};

/** A gRPC server over TLS on a port of its own. */
export class GrpcServer implements AsyncDisposable {
  readonly port: number;
  readonly #server: Server;

  private constructor(server: Server, port: number) {
    this.#server = server;
    this.port = port;
  }

  static async start({ key, cert }: Identity): Promise<GrpcServer> {
    const server = new Server();
    server.addService(ECHO, { talk });
    const pair = { private_key: Buffer.from(key), cert_chain: Buffer.from(cert) };
    const credentials = ServerCredentials.createSsl(null, [pair]);
    const port = await new Promise<number>((resolve, reject) => {
      server.bindAsync("127.0.0.1:0", credentials, (error, bound) => (error ? reject(error) : resolve(bound)));
    });
    return new GrpcServer(server, port);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.forceShutdown();
  }
}
