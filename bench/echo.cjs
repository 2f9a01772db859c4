// Until when virtual users go on: SECONDS after the first of them was made.
"use strict";

const end = Date.now() + 1000 * Number(process.env.SECONDS);

exports.isInTime = (context, next) => next(Date.now() < end);
