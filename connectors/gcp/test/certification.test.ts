import { describeCertification } from "@reversi-connector/certification-kit/jest";
import { subject } from "../src/certification.ts";

describeCertification(subject, { describe, test });
