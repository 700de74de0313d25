// Talks to `/test.Echo/Talk` over TLS and prints what comes back; bundled with its library, since images have none.
import { readFileSync } from "node:fs";
import { Client, credentials } from "@grpc/grpc-js";

const same = (value) => value;
const client = new Client(process.argv[2], credentials.createSsl(readFileSync("ca.pem")));
const call = client.makeBidiStreamRequest("/test.Echo/Talk", same, same);
let left = 3;
call.on("data", (message) => {
  console.log(message.toString());
  if (--left === 0) call.end();
});
call.on("error", (error) => {
  console.log(error.message);
  process.exitCode = 1;
});
call.on("end", () => client.close());
for (const word of ["one", "two", "three"]) call.write(Buffer.from(word));
