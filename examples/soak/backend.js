// The sandboxed GitHub, in this process: every change of its state is noted with whose it was, as it happens.
import { setTimeout as pause } from "node:timers/promises";
import { sandbox } from "@reversi-connector/github/sandbox";

const own = (target, name, value) => Object.defineProperty(target, name, { value, configurable: true });

/** Starts one; `changes` is what happened to it, oldest first, each `by` the agent or a person. */
export async function observedBackend() {
  const backend = await sandbox();
  const { site, requests } = backend;
  const changes = [];
  const armed = new Set();
  let by = "agent";
  let quiet = true;

  const fire = (when) => {
    for (const trigger of [...armed]) {
      if (trigger.when !== when || --trigger.left > 0) continue;
      armed.delete(trigger);
      trigger.act();
    }
  };
  const note = (what, facts) => {
    if (quiet) return;
    changes.push({ what, by, ...facts });
    if (by === "agent") fire("effect");
  };

  function watchLabels(issue, labels) {
    own(labels, "push", (...names) => {
      for (const label of names) note("label on", { issue: issue.number, label });
      return Array.prototype.push.apply(labels, names);
    });
    return labels;
  }
  function watchIssue(issue) {
    let { state } = issue;
    let labels = watchLabels(issue, issue.labels);
    Object.defineProperties(issue, {
      state: {
        enumerable: true,
        get: () => state,
        set(next) {
          if (next !== state) note(next, { issue: issue.number });
          state = next;
        },
      },
      labels: {
        enumerable: true,
        get: () => labels,
        set(next) {
          for (const label of labels)
            if (!next.includes(label)) note("label off", { issue: issue.number, label });
          labels = watchLabels(issue, [...next]);
        },
      },
    });
  }
  for (const issue of site.issues) watchIssue(issue);
  own(site.issues, "push", (issue) => {
    const length = Array.prototype.push.call(site.issues, issue);
    watchIssue(issue);
    note("issue", { issue: issue.number, title: issue.title });
    return length;
  });
  own(site.comments, "push", (comment) => {
    const length = Array.prototype.push.call(site.comments, comment);
    note("comment", { comment: comment.id, body: comment.body });
    return length;
  });
  own(site.comments, "splice", (at, count) => {
    const gone = Array.prototype.splice.call(site.comments, at, count);
    for (const { id, body, author } of gone) note("comment gone", { comment: id, body, author });
    return gone;
  });
  own(site.refs, "set", (ref, sha) => {
    note("ref", { ref, sha });
    return Map.prototype.set.call(site.refs, ref, sha);
  });
  own(site.refs, "delete", (ref) => {
    if (site.refs.has(ref)) note("ref gone", { ref, sha: site.refs.get(ref) });
    return Map.prototype.delete.call(site.refs, ref);
  });
  own(requests, "push", (request) => {
    const length = Array.prototype.push.call(requests, request);
    fire("arrival");
    return length;
  });
  quiet = false;

  return Object.assign(backend, {
    changes,
    /** What another person does, at once. */
    asPerson(work) {
      by = "person";
      try {
        return work();
      } finally {
        by = "agent";
      }
    },
    /** Acts at the nth request from now on, before it takes effect, or at the nth change that the agent makes. */
    at(when, nth, act) {
      const trigger = { when, left: nth, act };
      armed.add(trigger);
      return () => armed.delete(trigger);
    },
    /** Arms a fault of a plan. */
    arm({ fault: { afterMs, ...fault }, method, skip }) {
      const late = {
        ...fault,
        // Read when the request arrives, so the time counts from there.
        get until() {
          return pause(afterMs);
        },
      };
      backend.inject(afterMs === undefined ? fault : late, { method, skip });
    },
  });
}
