import { refuseArgument } from "@reversi-connector/core";
import type { Reaction } from "./objects.ts";

/** `:+1::skin-tone-2:` → `+1::skin-tone-2`. @throws InvalidArgumentsError when nothing is left */
export function bareName(given: string): string {
  const name = given.replace(/^:+|:+$/g, "");
  if (name !== "") return name;
  return refuseArgument("name", "must be more than colons");
}

/**
 * Standard emoji that bots like, each with all its names: no workspace can give these to an emoji of its own. Of any
 * other name nobody knows without the workspace's list whether it is an alias.
 */
const standard = [
  "+1 thumbsup | -1 thumbsdown | eyes | white_check_mark | heavy_check_mark | x | tada | rocket | warning | wave | pray",
  "clap | raised_hands | ok_hand | fire | 100 | bulb | memo pencil | bug | question | exclamation heavy_exclamation_mark",
  "hourglass | hourglass_flowing_sand | no_entry | no_entry_sign | rotating_light | construction | sos | lock | wrench",
  "red_circle | large_yellow_circle | large_green_circle | large_blue_circle | white_circle | robot_face | gear | zap",
  "arrows_counterclockwise | heart | star | sparkles | thinking_face | smile | joy | muscle | mag | ship | package",
];
const emojiOf = new Map(
  standard
    .flatMap((line) => line.split(" | "))
    .flatMap((names) => names.split(" ").map((name) => [name, names] as const)),
);

/** Whether two names mean one emoji: Slack may list a reaction under another name than the one it was sent. */
function isSame(a: string, b: string): boolean | "unknown" {
  if (a === b) return true;
  const [nameA = "", toneA] = a.split("::");
  const [nameB = "", toneB] = b.split("::");
  const emojiA = emojiOf.get(nameA);
  const emojiB = emojiOf.get(nameB);
  if (emojiA === undefined || emojiB === undefined) return "unknown";
  return emojiA === emojiB && toneA === toneB;
}

/** Whether `user` is among those who reacted with the emoji called `name`; "unknown" when that cannot be told. */
export function hasReacted(reactions: readonly Reaction[], user: string, name: string): boolean | "unknown" {
  const exact = reactions.filter((reaction) => reaction.name === name);
  let answer: false | "unknown" = false;
  for (const reaction of exact.length > 0 ? exact : reactions) {
    const listed = reaction.users.includes(user);
    const mayBe = listed || reaction.users.length < reaction.count;
    const same = mayBe && isSame(reaction.name, name);
    if (same === true && listed) return true;
    if (same !== false) answer = "unknown";
  }
  return answer;
}
