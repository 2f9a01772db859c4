// Runs in a page of the reference server: hears a stream of events that ends after each five, and gives
// the ids of all that came, which the browser asked for again by itself.

async () => {
  const ids = [];
  const source = new EventSource("/events?rate=200&end=5&retry=20");
  await new Promise((resolve, reject) => {
    source.onmessage = ({ data, lastEventId }) => {
      if (parseInt(data.slice(0, 16), 16) !== Number(lastEventId)) {
        reject(new Error(`${lastEventId}: ${data}`));
      }
      ids.push(Number(lastEventId));
      if (ids.length === 12) {
        resolve();
      }
    };
  });
  source.close();
  return ids;
}
