extension FCMVerdicts {
  /// Answers without `FcmError`: Google's front end speaks about our request or our credential, and never about a device.
  static let frontEndRows: [VerdictRow<FCMAnswer>] = [
    VerdictRow(
      "401 without FcmError", .credentials("UNAUTHENTICATED", names: "fcm.serviceAccount"),
      source: "PyFCM #334 (ACCESS_TOKEN_EXPIRED); Edujugon/PushNotification #80 (CREDENTIALS_MISSING)",
      keepsRawReason: true
    ) { $0.isFromTheFrontEnd && $0.status == 401 },
    VerdictRow(
      "403, ErrorInfo SERVICE_DISABLED", .credentials("SERVICE_DISABLED", names: "fcm.projectId"),
      source: "Google API errors; beste/firebase-php #231; firebase-admin-go #354"
    ) { $0.isFromTheFrontEnd && $0.status == 403 && $0.errorInfoReason == "SERVICE_DISABLED" },
    VerdictRow(
      "403, ErrorInfo IAM_PERMISSION_DENIED",
      .credentials("IAM_PERMISSION_DENIED", names: "fcm.projectId and fcm.serviceAccount"),
      source: "fcm-django #213; firebase-admin-dotnet #435"
    ) { $0.isFromTheFrontEnd && $0.status == 403 && $0.errorInfoReason == "IAM_PERMISSION_DENIED" },
    VerdictRow(
      "403 without FcmError", .credentials("PERMISSION_DENIED", names: "fcm.serviceAccount and fcm.projectId"),
      source: "firebase-admin-go #238; firebase-admin-dotnet #59; gapic-generator #3013 (scope)", keepsRawReason: true
    ) { $0.isFromTheFrontEnd && $0.status == 403 },
    VerdictRow(
      "404 NOT_FOUND in the old shape", .unknown("NOT_FOUND"), source: "firebase-admin-java #214 (the shape)",
      narrower: "the old shape has no details and never prunes"
    ) { $0.isFromTheFrontEnd && $0.isOldShape && $0.serviceStatus == "NOT_FOUND" },
    VerdictRow(
      "404 NOT_FOUND without FcmError", .dead("NOT_FOUND", .aboutLane, names: "fcm.projectId"),
      source: "Google API errors",
      narrower: "it may be the project's name, so it needs a witness"
    ) { $0.isFromTheFrontEnd && $0.status == 404 && $0.serviceStatus == "NOT_FOUND" },
    VerdictRow(
      "400 INVALID_ARGUMENT without FcmError, but with ApnsError", .unknown("INVALID_ARGUMENT"),
      source: "documented nowhere", narrower: "APNs is heard only beside FCM's own code"
    ) { isInvalidRequest($0) && $0.apnsError != nil },
    VerdictRow(
      "400 INVALID_ARGUMENT without FcmError, violation of message.token", .unknown("INVALID_ARGUMENT"),
      source: "documented nowhere", narrower: "without FcmError it speaks of the request's form"
    ) { isInvalidRequest($0) && $0.violatesTheTokenOnly },
    VerdictRow(
      "400 INVALID_ARGUMENT without FcmError, violation of another field",
      .message("INVALID_ARGUMENT", names: "message"),
      source: "Google, FCM error codes, example 1; eladnava/fcm-v1-http2 #5; laravel-notification-channels/fcm #37"
    ) { isInvalidRequest($0) && $0.violatesAnotherField },
    VerdictRow(
      "400 INVALID_ARGUMENT without FcmError or violations, the old shape included",
      .message("INVALID_ARGUMENT", names: "message"),
      source: "bloomberg/pushiko, fcm_responses.md; mozilla autopush #1373 (too big); firebase-admin-java #214"
    ) { isInvalidRequest($0) },
  ]

  private static func isInvalidRequest(_ answer: FCMAnswer) -> Bool {
    answer.isFromTheFrontEnd && answer.status == 400 && answer.serviceStatus == "INVALID_ARGUMENT"
  }

  static let anythingElse = VerdictRow<FCMAnswer>(
    "anything else", .unknown(), source: "documented nowhere", keepsRawReason: true
  ) { _ in true }
}
