// The shop's page: it shows what the API under /api says.

const $ = (selector) => document.querySelector(selector);
const money = (cents) => (cents / 100).toFixed(2);
let page = 1;

async function call(method, path, body) {
  const reply = await fetch(`/api${path}`, {
    method,
    headers: body ? { "Content-Type": "application/json" } : {},
    body: body ? JSON.stringify(body) : undefined,
  });
  const content = reply.status === 204 ? null : await reply.json();
  if (!reply.ok) throw new Error(content.detail ?? reply.statusText);
  return content;
}

function row(text, label, action) {
  const item = document.createElement("li");
  item.append(text);
  if (label) {
    const button = document.createElement("button");
    button.textContent = label;
    button.onclick = () => action().catch(say);
    item.append(button);
  }
  return item;
}

function say(what) {
  $("#said").textContent = what.message ?? what;
}

function showProducts({ products }) {
  const rows = products.map((one) =>
    row(`${one.name}, ${money(one.price_cents)}`, "Add", () => add(one.id)));
  $("#products").replaceChildren(...rows);
}

function showBasket({ lines, total_cents }) {
  $("#basket").replaceChildren(...lines.map((line) => row(`${line.quantity} x No. ${line.product_id}`)));
  $("#total").value = money(total_cents);
  $("#order").disabled = lines.length === 0;
}

async function add(number) {
  await call("GET", `/products/${number}`);
  showBasket(await call("PUT", `/basket/${number}`, { quantity: 2 }));
}

async function showOrders() {
  const { orders } = await call("GET", "/orders");
  $("#orders").replaceChildren(...orders.map((number) => row(number.slice(0, 8), "Cancel", async () => {
    await call("DELETE", `/orders/${number}`);
    await showOrders();
  })));
}

$("#login").onsubmit = async (event) => {
  event.preventDefault();
  try {
    const account = await call("POST", "/login", Object.fromEntries(new FormData(event.target)));
    $("#account span").textContent = account.email;
    $("#login").hidden = true;
    $("#account").hidden = false;
    showBasket(await call("GET", "/basket"));
    await showOrders();
  } catch (error) {
    say(error);
  }
};

$("#account button").onclick = async () => {
  await call("POST", "/logout");
  location.reload();
};

$("#search").onsubmit = async (event) => {
  event.preventDefault();
  const q = new FormData(event.target).get("q");
  showProducts(await call("GET", `/search?q=${encodeURIComponent(q)}`));
};

$("#more").onclick = async () => {
  page += 1;
  showProducts(await call("GET", `/products?page=${page}`));
};

$("#order").onclick = async () => {
  try {
    const order = await call("POST", "/orders");
    const placed = await call("GET", `/orders/${order.id}`);
    say(`Ordered for ${money(placed.total_cents)}.`);
    showBasket(await call("GET", "/basket"));
    await showOrders();
  } catch (error) {
    say(error);
  }
};

showProducts(await call("GET", `/products?page=${page}`));
