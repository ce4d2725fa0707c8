/** The report of a run, of files, or of a judge's audit: a verdict in words first, then what it rests on. */

import "../style.css";
import "./report.css";
import { render } from "preact";
import { Tip } from "../components/Term";
import { AuditPage } from "./AuditPage";
import { ComparisonPage } from "./Comparison";
import { ControlPage } from "./Control";
import { page } from "./data";
import { copyCommands, sortTables } from "./written";

function Report() {
  return (
    <>
      {page.kind === "comparison" ? (
        <ComparisonPage data={page} />
      ) : page.kind === "control" ? (
        <ControlPage data={page} />
      ) : (
        <AuditPage data={page} />
      )}
      <Tip />
    </>
  );
}

const place = document.getElementById("page")!;
place.replaceChildren(); // the words that the page has for browsers without scripts
render(<Report />, place);
sortTables();
copyCommands();
