// One stream of changes; the page asks for what changed. Without scripts the page is still whole.
const watched = document.body.dataset.watched;
const events = new EventSource("/events?watch=" + encodeURIComponent(watched));
events.addEventListener("list", (event) => {
  const list = document.getElementById("list");
  // What was filtered, and what was chosen, stays as it is.
  const chosen = document.querySelector("input[name=name]:checked");
  if (list && !location.search && !chosen) list.innerHTML = JSON.parse(event.data);
});
for (const name of ["now", "course"]) {
  events.addEventListener(name, (event) => {
    const place = document.getElementById(name);
    if (place) place.innerHTML = JSON.parse(event.data);
  });
}
events.addEventListener("trials", () => {
  const report = document.getElementById("report");
  if (report) report.contentWindow.location.reload();
  else if (watched) location.reload();
});
events.addEventListener("ended", () => { if (watched) location.reload(); });
const fit = () => {
  const report = document.getElementById("report");
  const page = report && report.contentDocument;
  if (page && page.body) report.style.height = page.body.scrollHeight + "px";
};
setInterval(fit, 1000);
