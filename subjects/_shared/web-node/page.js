// The page of the contract `web`, put together: for servers that bring no templates.

const ESCAPED = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
const escape = (text) => text.replace(/[&<>"']/g, (one) => ESCAPED[one]);

/** The page of these rows. */
export const page = (found) => {
  const rows = found.map(({ id, message }) => `<tr><td>${id}</td><td>${escape(message)}</td></tr>`);
  return (
    "<!DOCTYPE html><html><head><title>Fortunes</title></head><body><table>" +
    `<tr><th>id</th><th>message</th></tr>${rows.join("")}</table></body></html>`
  );
};
