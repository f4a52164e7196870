import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { mkdtemp, readdir, readFile, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { test } from "node:test";
import {
  ChecksumMismatch,
  ConflictError,
  MemoryUploads,
  NotFoundError,
  type Progress,
  type SearchFilters,
  UploadGone,
} from "@strongroom/client";
import { FileSource, FileTarget, FolderUploads } from "@strongroom/client/node";
import { administrator, breaking, counting, createTenant, type Fetch, loggedIn, losing } from "./support.js";

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

async function collected<T>(records: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const record of records) all.push(record);
  return all;
}

async function names(records: AsyncIterable<{ name: string }>): Promise<string[]> {
  return (await collected(records)).map(({ name }) => name);
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
  const target = new FileTarget(await temporary("a"));
  await writeFile(target.part, CONTENT.subarray(0, 1000));
  const reports: number[] = [];
  const onProgress = ({ done }: Progress) => reports.push(done);
  await client.download(tenantId, id, target, { onProgress });
  assert.equal(reports[0], 1000);
  assert.deepEqual(await readFile(target.path), CONTENT);
  await assert.rejects(stat(target.part), { code: "ENOENT" });
});

test("a download replaces the part of another file", async () => {
  const { client, tenantId } = await setUp();
  const { id } = await client.upload(tenantId, new Blob([CONTENT]), { name: "a" });
  for (const size of [1000, 2 * CONTENT.length]) {
    const target = new FileTarget(await temporary("a"));
    await writeFile(target.part, randomBytes(size));
    await client.download(tenantId, id, target);
    assert.deepEqual(await readFile(target.path), CONTENT);
  }
});

test("a file of any name is downloaded into a folder", async () => {
  const { client, tenantId } = await setUp();
  const folder = dirname(await temporary("a"));
  const cut = `${"报".repeat(83)}.txt`;
  const expected = new Map([
    ["a", "a"],
    ["a".repeat(255), "a".repeat(255)],
    [`${"报".repeat(200)}.txt`, cut],
    ["é".repeat(200), "é".repeat(127)],
    [`c.${"é".repeat(200)}`, `c.${"é".repeat(126)}`],
  ]);
  for (const [name, local] of expected) {
    const node = await client.upload(tenantId, new Blob([name]), { name });
    assert.equal(node.name, name);
    const target = FileTarget.in(folder, node.name);
    await client.download(tenantId, node.id, target);
    assert.deepEqual([dirname(target.path), basename(target.path)], [folder, local]);
    assert.equal(await readFile(target.path, "utf8"), name);
  }
  assert.deepEqual((await readdir(folder)).sort(), [...expected.values()].sort());
  for (const name of ["..", "../a", "", ".", "a/b", "a\0b"]) assert.throws(() => FileTarget.in(folder, name), TypeError);
});

test("a name that the file system refuses is an error before the download", async () => {
  const downloads = counting("/download");
  const { client, tenantId } = await setUp(downloads.fetch);
  const { id } = await client.upload(tenantId, new Blob(["x"]), { name: "a" });
  const target = new FileTarget(await temporary("a".repeat(256)));
  await assert.rejects(client.download(tenantId, id, target), { code: "ENAMETOOLONG" });
  assert.equal(downloads.count(), 0);
  await assert.rejects(stat(target.part), { code: "ENOENT" });
});

/** A fetch that changes a byte of each download. */
const changing: Fetch = async (input, init) => {
  const response = await fetch(input, init);
  if (!String(input).endsWith("/download")) return response;
  const bytes = new Uint8Array(await response.arrayBuffer());
  bytes[7]! ^= 1;
  return new Response(bytes, response);
};

test("content that was changed on its way is noticed", async () => {
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
  const deleted: string[] = [];
  for await (const node of client.iterate("/api/v1/tenants/{tenantId}/owners/{ownerId}/files", init)) {
    await client.delete(tenantId, node.id);
    deleted.push(node.name);
  }
  assert.deepEqual(deleted, names);
  for await (const tenant of client.iterate("/api/v1/tenants")) assert.equal(tenant.id, tenantId);
});

test("a list is whole while its records are removed, and is read from a page", async () => {
  const { client, tenantId } = await setUp();
  const expected: string[] = [];
  for (let number = 0; number < 5; number++) expected.push((await client.createFolder(tenantId, `${number}`)).id);
  const path = "/api/v1/tenants/{tenantId}/owners/{ownerId}/files";
  const list = (query: { pageSize: number; pageNumber?: number }) =>
    client.iterate(path, { params: { path: { tenantId, ownerId: "me" }, query } });
  assert.deepEqual(await names(list({ pageSize: 2, pageNumber: 2 })), ["2", "3", "4"]);
  const seen: string[] = [];
  for await (const { id } of list({ pageSize: 2 })) {
    await client.delete(tenantId, id);
    seen.push(id);
  }
  assert.deepEqual(seen, expected);
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

test("a file is copied", async () => {
  const { client, tenantId } = await setUp();
  const note = await client.upload(tenantId, new Blob(["one"]), { name: "note.txt" });
  const folder = await client.createFolder(tenantId, "copies");
  const copy = await client.copy(tenantId, note.id, folder.id);
  assert.deepEqual([copy.name, copy.parentId, copy.checksum], ["note.txt", folder.id, note.checksum]);
  await assert.rejects(client.copy(tenantId, note.id, folder.id), ConflictError);
  const named = await client.copy(tenantId, note.id, null, { name: "other.txt" });
  assert.deepEqual([named.name, named.parentId], ["other.txt", null]);
  const renamed = await client.copy(tenantId, note.id, null, { onConflict: "rename" });
  assert.notEqual(renamed.name, "note.txt");
});

test("files are found by a part of their name", async () => {
  const { client, tenantId } = await setUp();
  const before = new Date(Date.now() - 60_000);
  const folder = await client.createFolder(tenantId, "Report folder");
  await client.upload(tenantId, new Blob(["x"]), { name: "report.txt" });
  await client.upload(tenantId, new Blob(["12345"]), { name: "old report.txt", parentId: folder.id });
  await client.upload(tenantId, new Blob(["x"]), { name: "note.txt" });
  const search = async (...filters: [text: string, filters?: SearchFilters]) =>
    (await names(client.search(tenantId, ...filters))).sort();
  assert.deepEqual(await search("REPORT"), ["Report folder", "old report.txt", "report.txt"]);
  assert.deepEqual(await search("report", { type: "folder" }), ["Report folder"]);
  assert.deepEqual(await search("r", { folderId: folder.id }), ["old report.txt"]);
  assert.deepEqual(await search("report", { minSize: 5 }), ["old report.txt"]);
  assert.deepEqual(await search("note", { contentType: "text/plain" }), ["note.txt"]);
  assert.deepEqual(await search("note", { modifiedAfter: before }), ["note.txt"]);
  assert.deepEqual(await search("note", { modifiedAfter: new Date(Date.now() + 60_000) }), []);
});

test("deleted files are restored or removed", async () => {
  const { client, tenantId } = await setUp();
  const folder = await client.createFolder(tenantId, "folder");
  const send = (text: string) => client.upload(tenantId, new Blob([text]), { name: "note.txt", parentId: folder.id });
  const { id } = await send("one");
  await client.delete(tenantId, id);
  assert.deepEqual(await names(client.trash.iterate(tenantId)), ["note.txt"]);
  assert.equal((await client.trash.restore(tenantId, id)).parentId, folder.id);
  await client.delete(tenantId, id);
  await send("two");
  await assert.rejects(client.trash.restore(tenantId, id), ConflictError);
  assert.equal((await client.trash.restore(tenantId, id, { parentId: null })).parentId, null);
  await client.delete(tenantId, id);
  await client.trash.delete(tenantId, id);
  await assert.rejects(client.trash.restore(tenantId, id), NotFoundError);
  await client.delete(tenantId, folder.id);
  await client.trash.empty(tenantId);
  assert.deepEqual(await names(client.trash.iterate(tenantId)), []);
});

test("earlier contents are read and restored", async () => {
  const { client, tenantId } = await setUp(breaking(100 * KIB, 2));
  const send = (content: BlobPart) => {
    const options = { name: "note.txt", onConflict: "replace" as const };
    return client.upload(tenantId, new Blob([content]), options);
  };
  const { id } = await send(CONTENT);
  await send("two");
  const { versions } = client;
  const [first, ...others] = await collected(versions.iterate(tenantId, id));
  assert.deepEqual(others, []);
  const { number } = first!;
  const stream = await versions.stream(tenantId, id, number);
  assert.deepEqual(Buffer.from(await new Response(stream).arrayBuffer()), CONTENT);
  const target = new FileTarget(await temporary("a"));
  await versions.download(tenantId, id, number, target);
  assert.deepEqual(await readFile(target.path), CONTENT);
  const changed = await versions.change(tenantId, id, number, { label: "draft", keep: true });
  assert.deepEqual([changed.label, changed.keep], ["draft", true]);
  assert.equal((await versions.restore(tenantId, id, number)).checksum, sha256(CONTENT));
  assert.equal((await collected(versions.iterate(tenantId, id))).length, 2);
  await versions.delete(tenantId, id, number);
  const rest = await collected(versions.iterate(tenantId, id));
  assert.equal(rest.some((version) => version.number === number), false);
  const missing = await versions.stream(tenantId, id, number);
  await assert.rejects(new Response(missing).arrayBuffer(), NotFoundError);
});

test("an earlier content that was changed on its way is noticed", async () => {
  const { client, tenantId } = await setUp(changing);
  const options = { name: "a", onConflict: "replace" as const };
  const { id } = await client.upload(tenantId, new Blob([CONTENT]), options);
  await client.upload(tenantId, new Blob(["two"]), options);
  for await (const { number } of client.versions.iterate(tenantId, id)) {
    const stream = await client.versions.stream(tenantId, id, number);
    await assert.rejects(new Response(stream).arrayBuffer(), ChecksumMismatch);
  }
});

test("files are shared by links", async () => {
  const { client, tenantId } = await setUp();
  const send = (name: string) => client.upload(tenantId, new Blob(["x"]), { name });
  const [note, other] = [await send("note.txt"), await send("other.txt")];
  const { shares } = client;
  const share = await shares.create(tenantId, note.id, { kind: "read", label: "For Ben" });
  assert.match(share.url!, /^http/);
  const ids = async (fileId?: string) => (await collected(shares.iterate(tenantId, fileId))).map(({ id }) => id);
  assert.deepEqual(await ids(), [share.id]);
  assert.deepEqual(await ids(note.id), [share.id]);
  assert.deepEqual(await ids(other.id), []);
  assert.equal((await shares.change(tenantId, share.id, { label: "For Anna" })).label, "For Anna");
  assert.equal((await shares.get(tenantId, share.id)).label, "For Anna");
  assert.deepEqual(await collected(shares.withMe()), []);
  await shares.delete(tenantId, share.id);
  await assert.rejects(shares.get(tenantId, share.id), NotFoundError);
});

test("members and groups get permissions", async () => {
  const admin = await administrator();
  const { id: userId } = (await (await loggedIn()).user())!;
  const { id: tenantId } = await admin.createTenant("Acme");
  const { id: fileId } = await admin.createFolder(tenantId, "folder");
  const params = { path: { tenantId, userId } };
  await admin.api.PUT("/api/v1/tenants/{tenantId}/members/{userId}", { params, body: { role: "member" } });
  const group = { params: { path: { tenantId } }, body: { name: "Editors" } };
  const { id: groupId } = (await admin.api.POST("/api/v1/tenants/{tenantId}/groups", group)).data;
  await admin.api.PUT("/api/v1/tenants/{tenantId}/groups/{groupId}/members/{userId}", {
    params: { path: { tenantId, groupId, userId } },
  });
  const { grants } = admin;
  const reasons = async () =>
    (await grants.explain(tenantId, fileId, userId)).grants.map((reason) => [reason.groupId, reason.permission]);

  await grants.set(tenantId, fileId, { ownerId: userId, permission: "read" });
  await grants.set(tenantId, fileId, { ownerId: userId, permission: "write" });
  const held = await collected(grants.iterate(tenantId, fileId));
  assert.equal(held.find(({ ownerId }) => ownerId === userId)?.permission, "write");
  assert.deepEqual(await reasons(), [[null, "write"]]);
  await grants.setGroup(tenantId, fileId, { groupId, permission: "manage" });
  const [editors] = await collected(grants.iterateGroups(tenantId, fileId));
  assert.equal(editors?.groupName, "Editors");
  assert.equal((await reasons()).length, 2);
  await grants.revoke(tenantId, fileId, userId);
  assert.equal((await grants.explain(tenantId, fileId, userId)).permission, "manage");
  await grants.revokeGroup(tenantId, fileId, groupId);
  assert.deepEqual((await grants.explain(tenantId, fileId, userId)).grants, []);
});
