// One GET after the other, as k6's users write it.
import http from "k6/http";

export default function () {
  http.get(__ENV.URL);
}
