// Users and their notes, in memory: gone when the process ends.

import { randomUUID, scryptSync, timingSafeEqual } from "node:crypto";

const USERS = 50;
const PASSWORD = "open sesame";
// Far below what a real application should spend: a load test of the example is not one of scrypt.
const COST = { N: 1024, r: 8, p: 1 };
const FIRST = [
  { title: "Shopping", text: "Milk, bread, six eggs." },
  { title: "Books to read", text: "The Mill on the Floss; Middlemarch." },
  { title: "Garden", text: "Sow beans in the last week of April." },
];

export class Store {
  #hash = scryptSync(PASSWORD, "notes", 32, COST);
  #notes = new Map();

  constructor() {
    for (let number = 1; number <= USERS; number += 1) {
      this.#notes.set(`user${number}`, new Map());
      for (const { title, text } of FIRST) this.add(`user${number}`, title, text);
    }
  }

  isPassword(user, password) {
    const given = scryptSync(String(password ?? ""), "notes", 32, COST);
    return this.#notes.has(user) && timingSafeEqual(given, this.#hash);
  }

  // The newest first.
  list(user) {
    return [...this.#notes.get(user).values()].reverse();
  }

  find(user, id) {
    return this.#notes.get(user).get(id);
  }

  search(user, words) {
    const wanted = words.toLowerCase();
    return this.list(user).filter(({ title, text }) => `${title} ${text}`.toLowerCase().includes(wanted));
  }

  add(user, title, text) {
    const note = { id: randomUUID(), title, text, at: new Date().toISOString() };
    this.#notes.get(user).set(note.id, note);
    return note;
  }

  remove(user, id) {
    this.#notes.get(user).delete(id);
  }

  anotherThan(user) {
    return user === "user1" ? "user2" : "user1";
  }
}
