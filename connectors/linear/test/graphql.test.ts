import { errorShape, vendor } from "./bench.ts";

test.each([
  ["a field", "{ viewer { id foo } }", {}, 'Cannot query field "foo" on type "User".'],
  ["a field of every object", "{ viewer { constructor } }", {}, 'Cannot query field "constructor"'],
  ["an argument", '{ issue(key: "ENG-1") { id } }', {}, 'Unknown argument "key" on field "Query.issue".'],
  ["nothing for an argument", "{ issue { id } }", {}, 'argument "id" of type "String!" is required'],
  ["a number for text", "{ issue(id: 7) { id } }", {}, "String cannot represent"],
  ["nothing below an object", "{ viewer }", {}, "must have a selection of subfields"],
  ["something below a leaf", "{ viewer { id { x } } }", {}, "must not have a selection"],
  ["a variable nobody declared", "{ issue(id: $id) { id } }", {}, 'Variable "$id" is not defined'],
  ["a variable nobody uses", "query A($id: String!) { viewer { id } }", { id: "x" }, "is never used"],
  [
    "a variable of another type",
    "query A($id: Int!) { issue(id: $id) { id } }",
    { id: 1 },
    "used in position",
  ],
  ["a variable without its value", "query A($id: String!) { issue(id: $id) { id } }", {}, "was not provided"],
  [
    "a variable that is null",
    "query A($id: String!) { issue(id: $id) { id } }",
    { id: null },
    "not to be null",
  ],
  ["an unknown type", "query A($id: Foo!) { issue(id: $id) { id } }", { id: "x" }, 'Unknown type "Foo"'],
  [
    "an unknown field of an input",
    "mutation A($input: IssueCreateInput!) { issueCreate(input: $input) { success } }",
    { input: { teamId: "x", titel: "y" } },
    'Field "titel" is not defined by type "IssueCreateInput".',
  ],
  [
    "no team",
    "mutation A($input: IssueCreateInput!) { issueCreate(input: $input) { success } }",
    { input: { title: "y" } },
    'Field "teamId" of required type "String!" was not provided.',
  ],
  [
    "an unknown field of an input in the document",
    'mutation { commentCreate(input: { issue: "ENG-1" }) { success } }',
    {},
    'Field "issue" is not defined by type "CommentCreateInput".',
  ],
  ["half a document", "{ viewer { id }", {}, "Syntax Error"],
  ["a character of no language", "{ viewer { id § } }", {}, "Syntax Error"],
  ["a fragment that is not there", "{ ...All }", {}, 'Unknown fragment "All".'],
  ["a fragment within itself", "{ viewer { ...A } } fragment A on User { ...A }", {}, "within itself"],
  ["a fragment nobody uses", "{ viewer { id } } fragment A on User { id }", {}, "is never used"],
  ["a fragment of another type", "{ viewer { ...A } } fragment A on Team { id }", {}, "can never be of type"],
  ["a directive", "{ viewer { id @skip(if: true) } }", {}, "Syntax Error"],
  [
    "two operations and no name",
    "query A { viewer { id } } query B { viewer { id } }",
    {},
    "Must provide operation name",
  ],
])("%s: refused with 400, nothing executed", async (_, query, variables, message) => {
  const { ask, state } = await vendor();
  const before = await state();
  const { status, body } = await ask({ query, variables });
  expect(status).toBe(400);
  expect(body).toMatchObject({ errors: [errorShape], data: null });
  expect(body.errors[0].message).toContain(message);
  expect(body.errors[0].extensions.type).toBe("graphql error");
  expect(await state()).toEqual(before);
});

test("fragments are put in where they are spread, and a type tells its name", async () => {
  const { ask } = await vendor();
  const query = `query A { issue(id: "ENG-1") { ...Whole syncedWith { metadata { ... on ExternalEntitySlackMetadata { channelId } } } } }
    fragment Whole on Issue { __typename identifier assignee { ...Name } }
    fragment Name on User { name }`;
  expect((await ask({ query })).body).toEqual({
    data: {
      issue: {
        __typename: "Issue",
        identifier: "ENG-1",
        assignee: { name: "ada" },
        syncedWith: null,
      },
    },
  });
});

test("an operation is picked by its name, and a field answered under its alias", async () => {
  const { ask } = await vendor();
  const query = 'query A { viewer { id } } query B { first: issue(id: "eng-1") { name: identifier } }';
  expect((await ask({ query, operationName: "B" })).body).toEqual({ data: { first: { name: "ENG-1" } } });
  expect((await ask({ query, operationName: "C" })).status).toBe(400);
});
