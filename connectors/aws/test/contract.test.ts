import { dataAt, testOn } from "../../../test/contracts.ts";
import { smithyContract } from "../src/contract.ts";

const model = dataAt("aws.smithy.json");
const withModel = testOn(model);

const list = `<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>a</Key><Size>5</Size></Contents></ListBucketResult>`;
const exchange = {
  ...{
    method: "GET",
    path: "/notes?list-type=2&prefix=a",
    headers: { host: "x" },
    body: "",
    malformed: false,
  },
  answer: { status: 200, headers: { "content-type": "application/xml" }, body: list },
};

withModel("what Amazon's model does not describe is found, in requests and in answers", () => {
  const { judge } = smithyContract(model);
  const answering = (change: object) => judge({ ...exchange, answer: { ...exchange.answer, ...change } });
  expect(judge(exchange)).toEqual([]);
  expect(judge({ ...exchange, path: "/notes?list-type=2&nonsense=1" })).toEqual([
    "ListObjectsV2: the parameter nonsense is not described",
  ]);
  expect(judge({ ...exchange, headers: { "x-amz-nonsense": "1" } })).toEqual([
    "ListObjectsV2: the header x-amz-nonsense is not described",
  ]);
  expect(judge({ ...exchange, method: "POST" })).toEqual(["POST: no such operation"]);
  expect(answering({ status: 204 })).toEqual(["ListObjectsV2: answer 204: the status is not described"]);
  expect(answering({ headers: { "x-nonsense": "1" } })).toEqual([
    "ListObjectsV2: answer 200: the header x-nonsense is not described",
  ]);
  expect(answering({ body: list.replace("5", "five") })).toEqual(["ListObjectsV2: <Size> is no long"]);
  expect(answering({ body: list.replaceAll("Key>", "Name>") })).toEqual([
    "ListObjectsV2: <Contents> has no <Name>",
  ]);
  expect(answering({ body: "{}" })).toEqual(["ListObjectsV2: answer 200: no XML"]);
  expect(answering({ status: 403, body: "no" })).toEqual([
    "ListObjectsV2: answer 403: no <Error> with <Code> and <Message>",
  ]);
});
