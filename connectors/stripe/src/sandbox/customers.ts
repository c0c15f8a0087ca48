import { type Call, type Endpoint, find, need, ok } from "./call.ts";
import { addCustomer, removeCustomer } from "./deeds.ts";
import { customerOf, deletedCustomerOf } from "./objects.ts";
import { metadata, read, text } from "./parameters.ts";
import { fail, refuse } from "./wire.ts";
import type { Customer } from "./world.ts";

const customerIn = ({ world, request }: Call): Customer =>
  find(world, world.customers, request.params["id"] ?? "", { what: "customer", param: "id", inPath: true });

export const createCustomer: Endpoint = ({ world, sent, by }) => {
  need(world, "customer", "write");
  const given = read(sent, {
    name: text(256),
    email: text(512),
    description: text(),
    phone: text(20),
    metadata,
  });
  if (given.email && !given.email.includes("@")) {
    refuse(400, { code: "email_invalid", message: `Invalid email address: ${given.email}`, param: "email" });
  }
  return ok(customerOf(addCustomer(world, given, by)));
};

export const getCustomer: Endpoint = (call) => {
  need(call.world, "customer", "read");
  read(call.sent, {});
  const customer = customerIn(call);
  return ok(customer.deleted ? deletedCustomerOf(customer) : customerOf(customer));
};

export const deleteCustomer: Endpoint = (call) => {
  const { world, sent, by } = call;
  need(world, "customer", "write");
  read(sent, {});
  const customer = customerIn(call);
  if (customer.deleted) {
    fail(404, { code: "resource_missing", message: `No such customer: '${customer.id}'`, param: "id" });
  }
  removeCustomer(world, customer, by);
  return ok(deletedCustomerOf(customer));
};
