import { describe, test } from "node:test";
import { describeCertification } from "@reversi-connector/certification-kit/jest";
import { subject } from "reversi-connector-shelf/certification";

describeCertification(subject, { describe, test });
