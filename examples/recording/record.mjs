// Records a visit to an application in Chromium as HAR, as a person would save it from the developer tools.
//   npm ci
//   node record.mjs shop http://127.0.0.1:8000 shop.har
//   node record.mjs notes http://127.0.0.1:8001 notes.har
// CHROMIUM says where the browser is (/usr/bin/chromium).

import { chromium } from "playwright-core";

const QUIET = [
  "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
  // Chromium refuses to put root into its sandbox.
  ...(process.getuid() === 0 ? ["--no-sandbox"] : []),
];

const VISITS = {
  async shop(page) {
    await page.goto("/");
    await page.getByRole("button", { name: "Add" }).first().waitFor();
    await page.locator("[name=email]").fill("customer1@example.org");
    await page.locator("[name=password]").fill("open sesame");
    await does(page, "/api/orders", () => page.getByRole("button", { name: "Sign in" }).click());
    await does(page, "/api/products?page=2", () => page.getByRole("button", { name: "Next page" }).click());
    await page.locator("[name=q]").fill("lamp");
    await does(page, "/api/search", () => page.locator("[name=q]").press("Enter"));
    await does(page, "/api/basket/10", () => page.getByRole("button", { name: "Add" }).first().click());
    await does(page, "/api/orders", () => page.getByRole("button", { name: "Order", exact: true }).click());
    await page.getByRole("button", { name: "Cancel" }).first().waitFor();
    await does(page, "/api/orders", () => page.getByRole("button", { name: "Cancel" }).first().click());
    await does(page, "/api/logout", () => page.getByRole("button", { name: "Sign out" }).click());
  },
  async notes(page) {
    await page.goto("/login");
    await page.locator("[name=user]").fill("user1");
    await page.locator("[name=password]").fill("open sesame");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.locator("#search").fill("bread");
    await does(page, "/api/search", () => page.locator("#search").press("Enter"));
    await page.locator("[name=title]").fill("Call the plumber");
    await page.locator("[name=text]").fill("About the tap in the kitchen.");
    await page.getByRole("button", { name: "Add" }).click();
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.locator("[name=user]").waitFor();
  },
};

// Does something, and waits for the reply that it leads to.
async function does(page, path, action) {
  const reply = page.waitForResponse((one) => one.url().includes(path));
  await action();
  await (await reply).finished();
}

const [name, baseURL, file] = process.argv.slice(2);
if (!(name in VISITS) || !file) throw new Error("node record.mjs shop|notes URL FILE");
const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";
const browser = await chromium.launch({ executablePath, args: QUIET });
const context = await browser.newContext({ baseURL, recordHar: { path: file, content: "embed" } });
await VISITS[name](await context.newPage());
await context.close();
await browser.close();
