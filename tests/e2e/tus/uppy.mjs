// Uploads the file of the page's input by Uppy.
import Uppy from "@uppy/core";
import Tus from "@uppy/tus";

globalThis.upload = async (endpoint, token) => {
  const uppy = new Uppy().use(Tus, {
    endpoint,
    headers: { Authorization: `Bearer ${token}` },
    retryDelays: [100, 300, 1000, 3000, 5000],
    allowedMetaFields: ["name", "filename"],
  });
  const [file] = document.querySelector("input").files;
  uppy.addFile({ name: file.name, data: file, meta: { filename: file.name } });
  const { successful, failed } = await uppy.upload();
  return { successful: successful.map((one) => one.name), failed: failed.map((one) => one.error) };
};
