import type { Dropped } from "./dropped.ts";
import type { Layer, Ruled } from "./layer.ts";

type Sayers = { organisation: Layer; person: Layer; project: Layer };

/**
 * The image to work in: the project's wish if the person lists it, else the person's; never one that the organisation
 * does not list. No image is tighter than another, so this is a choice among what all allow.
 */
export function chooseImage({ organisation, person, project }: Sayers): {
  image: Ruled<string> | undefined;
  dropped: Dropped[];
} {
  const wishes = [project.picks.image, person.picks.image, organisation.picks.image].filter(
    (wish) => wish !== undefined,
  );
  const dropped: Dropped[] = [];
  for (const wish of wishes) {
    const against =
      ruleAgainst(organisation, wish) ?? (wish === project.picks.image ? ruleAgainst(person, wish) : undefined);
    if (!against) return { image: wish, dropped };
    if (!wish.rule.startsWith("built-in/")) {
      dropped.push({ rule: wish.rule, asked: wish.value, by: against.rule, kept: against.value });
    }
  }
  return { image: undefined, dropped };
}

/** Who names an image or lists some means these and no others. */
function ruleAgainst({ picks, lists }: Layer, { value }: Ruled<string>): Ruled<string> | undefined {
  const { image } = picks;
  const { images } = lists;
  if (!image && !images) return undefined;
  const allowed = [...(image ? [image] : []), ...(images?.items ?? [])];
  if (allowed.some((item) => item.value === value)) return undefined;
  return { value: allowed.map((item) => item.value).join(", ") || "none", rule: images?.rule ?? image?.rule ?? "" };
}
