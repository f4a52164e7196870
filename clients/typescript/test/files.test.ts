import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { mkdtemp, readFile, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { ChecksumMismatch, ConflictError, MemoryUploads, type Progress, UploadGone } from "@strongroom/client";
import { FileSource, FileTarget, FolderUploads } from "@strongroom/client/node";
import { breaking, createTenant, type Fetch, loggedIn, losing } from "./support.js";

const KIB = 1024;
const CHUNK = { chunkSize: 64 * KIB };
const CONTENT = randomBytes(300 * KIB);

function sha256(bytes: Uint8Array): string {
  return `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
}

async function setUp(fetch?: Fetch) {
  const client = await loggedIn(fetch ? { fetch } : {});
  return { client, tenantId: await createTenant(client) };
}

async function temporary(name: string, content?: Uint8Array): Promise<string> {
  const path = join(await mkdtemp(join(tmpdir(), "strongroom-")), name);
  if (content) await writeFile(path, content);
  return path;
}

async function names(records: AsyncIterable<{ name: string }>): Promise<string[]> {
  const found: string[] = [];
  for await (const { name } of records) found.push(name);
  return found;
}

test("an upload reports its progress and returns the file", async () => {
  const { client, tenantId } = await setUp();
  const reports: Progress[] = [];
  const options = { name: "报告.bin", onProgress: (progress: Progress) => reports.push(progress), ...CHUNK };
  const node = await client.upload(tenantId, new Blob([CONTENT]), options);
  assert.equal(node.name, "报告.bin");
  assert.equal(node.checksum, sha256(CONTENT));
  assert.deepEqual(reports[0], { done: 0, total: CONTENT.length });
  assert.deepEqual(reports.at(-1), { done: CONTENT.length, total: CONTENT.length });
  assert.equal(reports.length, 6);
});

test("an empty file is uploaded and downloaded", async () => {
  const { client, tenantId } = await setUp();
  const node = await client.upload(tenantId, new Blob([]), { name: "empty" });
  const stream = await client.stream(tenantId, node.id);
  assert.equal((await new Response(stream).arrayBuffer()).byteLength, 0);
});

test("a name that exists is a conflict, unless another rule is chosen", async () => {
  const { client, tenantId } = await setUp();
  const send = (onConflict?: "rename" | "replace") =>
    client.upload(tenantId, new Blob(["x"]), { name: "note.txt", ...(onConflict ? { onConflict } : {}) });
  const first = await send();
  await assert.rejects(send(), ConflictError);
  assert.notEqual((await send("rename")).name, "note.txt");
  assert.equal((await send("replace")).id, first.id);
});

test("an upload continues after lost responses", async () => {
  const { client, tenantId } = await setUp(losing("PATCH", 3));
  const node = await client.upload(tenantId, new Blob([CONTENT]), { name: "a", ...CHUNK });
  assert.equal(node.checksum, sha256(CONTENT));
});

test("an upload whose last response is lost has its file", async () => {
  const { client, tenantId } = await setUp(losing("PATCH", 1));
  const node = await client.upload(tenantId, new Blob(["x"]), { name: "a" });
  assert.equal(node.size, 1);
});

test("an aborted upload is resumed by its state, unless the file has changed", async () => {
  const { client, tenantId } = await setUp();
  const path = await temporary("large.bin", CONTENT);
  const state = new FolderUploads(await temporary("uploads"));
  const abort = async (): Promise<void> => {
    const controller = new AbortController();
    const onProgress = ({ done }: Progress) => done > 100 * KIB && controller.abort();
    const source = await FileSource.of(path);
    const options = { state, onProgress, signal: controller.signal, ...CHUNK };
    await assert.rejects(client.upload(tenantId, source, options), { name: "AbortError" });
  };
  const resume = async (name: string): Promise<number> => {
    const reports: number[] = [];
    const onProgress = ({ done }: Progress) => reports.push(done);
    const source = await FileSource.of(path);
    const options = { state, onProgress, onConflict: "rename" as const, ...CHUNK };
    const node = await client.upload(tenantId, source, { ...options, name });
    assert.equal(node.checksum, sha256(await readFile(path)));
    return reports[0]!;
  };
  await abort();
  assert.equal(await resume("other.bin"), 0);
  await abort();
  const options = { state, ...CHUNK };
  const reports: number[] = [];
  const onProgress = ({ done }: Progress) => reports.push(done);
  await client.upload(tenantId, await FileSource.of(path), { ...options, onProgress });
  assert.equal(reports[0], 128 * KIB);
  await writeFile(path, randomBytes(CONTENT.length));
  await utimes(path, new Date(), new Date(Date.now() + 5000));
  assert.equal(await resume("large.bin"), 0);
});

test("an upload that was terminated is gone, and an expired one begins again", async () => {
  const { client, tenantId } = await setUp();
  const ids: string[] = [];
  const state = new MemoryUploads();
  const watching = {
    load: (key: string) => state.load(key),
    save: (key: string, id: string | undefined) => {
      if (id) ids.push(id);
      state.save(key, id);
    },
  };
  const terminate = () =>
    client.api.DELETE("/api/v1/tenants/{tenantId}/uploads/{uploadId}", {
      params: { path: { tenantId, uploadId: ids[0]! } },
      headers: { "Tus-Resumable": "1.0.0" },
    });
  let terminated: Promise<unknown> | undefined;
  const source = {
    name: "a",
    size: CONTENT.length,
    lastModified: 1,
    read: async (start: number, end: number): Promise<Uint8Array<ArrayBuffer>> => {
      if (start > 0 && ids.length === 1) await (terminated ??= terminate());
      return new Uint8Array(CONTENT.subarray(start, end));
    },
  };
  await assert.rejects(client.upload(tenantId, source, { state: watching, ...CHUNK }), UploadGone);
  const node = await client.upload(tenantId, source, { state: watching, ...CHUNK });
  assert.equal(node.checksum, sha256(CONTENT));
  assert.equal(ids.length, 2);
});

test("a download continues after broken connections", async () => {
  const { client, tenantId } = await setUp(breaking(100 * KIB, 2));
  const { id } = await client.upload(tenantId, new Blob([CONTENT]), { name: "a" });
  const stream = await client.stream(tenantId, id);
  assert.deepEqual(Buffer.from(await new Response(stream).arrayBuffer()), CONTENT);
});

test("a download continues the part of a file", async () => {
  const { client, tenantId } = await setUp();
  const { id } = await client.upload(tenantId, new Blob([CONTENT]), { name: "a" });
  const path = await temporary("a");
  await writeFile(`${path}.part`, CONTENT.subarray(0, 1000));
  const reports: number[] = [];
  const onProgress = ({ done }: Progress) => reports.push(done);
  await client.download(tenantId, id, new FileTarget(path), { onProgress });
  assert.equal(reports[0], 1000);
  assert.deepEqual(await readFile(path), CONTENT);
  await assert.rejects(stat(`${path}.part`), { code: "ENOENT" });
});

test("a download replaces the part of another file", async () => {
  const { client, tenantId } = await setUp();
  const { id } = await client.upload(tenantId, new Blob([CONTENT]), { name: "a" });
  for (const size of [1000, 2 * CONTENT.length]) {
    const path = await temporary("a");
    await writeFile(`${path}.part`, randomBytes(size));
    await client.download(tenantId, id, new FileTarget(path));
    assert.deepEqual(await readFile(path), CONTENT);
  }
});

test("content that was changed on its way is noticed", async () => {
  const changing: Fetch = async (input, init) => {
    const response = await fetch(input, init);
    if (!String(input).endsWith("/download")) return response;
    const bytes = new Uint8Array(await response.arrayBuffer());
    bytes[7]! ^= 1;
    return new Response(bytes, response);
  };
  const { client, tenantId } = await setUp(changing);
  const { id } = await client.upload(tenantId, new Blob([CONTENT]), { name: "a" });
  const stream = await client.stream(tenantId, id);
  await assert.rejects(new Response(stream).arrayBuffer(), ChecksumMismatch);
  const path = await temporary("a");
  await assert.rejects(client.download(tenantId, id, new FileTarget(path)), ChecksumMismatch);
  await assert.rejects(stat(path), { code: "ENOENT" });
});

test("a file that is replaced during a download is noticed", async () => {
  let replace: (() => Promise<unknown>) | undefined;
  const replacing: Fetch = async (input, init) => {
    if (new Headers(init?.headers).has("Range")) await replace?.();
    return await breaking(100 * KIB, 1)(input, init);
  };
  const { client, tenantId } = await setUp(replacing);
  const options = { name: "a", onConflict: "replace" as const };
  const { id } = await client.upload(tenantId, new Blob([CONTENT]), options);
  replace = () => client.upload(tenantId, new Blob([randomBytes(CONTENT.length)]), options);
  const stream = await client.stream(tenantId, id);
  await assert.rejects(new Response(stream).arrayBuffer(), ChecksumMismatch);
});

test("a stream that is cancelled ends its request", async () => {
  const { client, tenantId } = await setUp();
  const { id } = await client.upload(tenantId, new Blob([CONTENT]), { name: "a" });
  const reader = (await client.stream(tenantId, id)).getReader();
  assert.ok((await reader.read()).value!.length > 0);
  await reader.cancel();
});

test("records of all pages are iterated in order", async () => {
  const { client, tenantId } = await setUp();
  for (const name of ["e", "d", "c", "b", "a"]) {
    await client.api.POST("/api/v1/tenants/{tenantId}/folders", {
      params: { path: { tenantId } },
      body: { name },
    });
  }
  const names: string[] = [];
  const init = { params: { path: { tenantId, ownerId: "me" }, query: { pageSize: 2 } } };
  for await (const node of client.iterate("/api/v1/tenants/{tenantId}/owners/{ownerId}/files", init)) {
    names.push(node.name);
  }
  assert.deepEqual(names, ["a", "b", "c", "d", "e"]);
  for await (const tenant of client.iterate("/api/v1/tenants")) assert.equal(tenant.id, tenantId);
});

test("folders are created, and nodes are listed, renamed, moved and deleted", async () => {
  const client = await loggedIn();
  const { id: tenantId } = await client.createTenant("Acme");
  assert.deepEqual(await names(client.tenants()), ["Acme"]);
  const reports = await client.createFolder(tenantId, "reports");
  const year = await client.createFolder(tenantId, "2026", reports.id);
  const note = await client.upload(tenantId, new Blob(["x"]), { name: "note.txt" });
  assert.deepEqual(await names(client.files(tenantId)), ["note.txt", "reports"]);
  assert.equal((await client.move(tenantId, note.id, year.id, "moved.txt")).name, "moved.txt");
  assert.equal((await client.rename(tenantId, year.id, "2027")).name, "2027");
  assert.deepEqual(await names(client.files(tenantId, reports.id)), ["2027"]);
  assert.deepEqual(await names(client.files(tenantId, year.id)), ["moved.txt"]);
  assert.equal((await client.move(tenantId, note.id, null)).parentId, null);
  await client.delete(tenantId, reports.id);
  assert.deepEqual(await names(client.files(tenantId)), ["moved.txt"]);
  assert.equal((await client.file(tenantId, note.id)).size, 1);
});
