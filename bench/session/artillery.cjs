// What the session for Artillery can't say in YAML: SECONDS until users end, THINK between requests, numbers in a body.
"use strict";

const end = Date.now() + 1000 * Number(process.env.SECONDS);
const mean = Number(process.env.THINK || 0);

exports.isInTime = (context, next) => next(Date.now() < end);

exports.think = (context, events, next) => {
  if (mean === 0) return next();
  // A user who wakes up behind the end is not one of a crowd any more.
  const awake = () => (Date.now() < end ? next() : next(new Error("over")));
  setTimeout(awake, 1000 * mean * (0.5 + Math.random()));
};

// The template would send them as texts.
exports.order = (request, context, events, next) => {
  request.json = { item: Number(context.vars.item), quantity: Number(context.vars.quantity) };
  next();
};
