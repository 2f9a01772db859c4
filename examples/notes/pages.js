// The pages, as text. All that a user typed is escaped.

const SIGNS = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };
const safe = (text) => String(text).replace(/[&<>"']/g, (sign) => SIGNS[sign]);

function page(title, body) {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${safe(title)}</title>
</head>
<body>
${body}
</body>
</html>
`;
}

const hidden = (csrf) => `<input type="hidden" name="csrf" value="${safe(csrf)}">`;

const header = (user, csrf) => `<p>Signed in as ${safe(user)}</p>
<form method="post" action="/logout">${hidden(csrf)}<button id="logout">Sign out</button></form>`;

export const loginPage = ({ csrf, wrong = false }) => page("Sign in", `<h1>Notes</h1>
${wrong ? "<p role=\"alert\">Unknown user or wrong password.</p>" : ""}
<form method="post" action="/login">
${hidden(csrf)}
<input name="user" placeholder="user" autocomplete="username" required>
<input name="password" type="password" placeholder="password" autocomplete="current-password" required>
<button>Sign in</button>
</form>`);

export const listPage = ({ user, list, count, csrf }) => page("Notes", `${header(user, csrf)}
<h1>${count} notes</h1>
<input id="search" placeholder="search">
<ul id="notes">
${list.map(({ id, title, at }) => `<li><a href="/notes/${id}">${safe(title)}</a> <time>${at}</time></li>`).join("\n")}
</ul>
<form id="add" method="post" action="/notes">
${hidden(csrf)}
<input name="title" placeholder="title" required>
<textarea name="text" placeholder="text"></textarea>
<button>Add</button>
</form>
<script type="module">
const items = [...document.querySelectorAll("#notes li")];
document.querySelector("#search").onchange = async ({ target }) => {
  const reply = await fetch(\`/api/search?q=\${encodeURIComponent(target.value)}\`);
  const found = new Set((await reply.json()).notes.map(({ id }) => \`/notes/\${id}\`));
  for (const item of items) item.hidden = !found.has(item.firstChild.getAttribute("href"));
};
</script>`);

export const notePage = ({ user, note, csrf }) => page(note.title, `${header(user, csrf)}
<h1>${safe(note.title)}</h1>
<p>${safe(note.text)}</p>
<form id="delete" method="post" action="/notes/${note.id}/delete">${hidden(csrf)}<button>Delete</button></form>
<p><a href="/notes">All notes</a></p>`);

export const failed = (status, what) => page(`${status}`, `<h1>${status}</h1>
<p>${safe(what)}</p>`);
