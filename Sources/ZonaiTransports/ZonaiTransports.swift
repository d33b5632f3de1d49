// FCM and APNs: what a message looks like on either wire, the credentials that go with it, and how answers come back.
// One request a recipient, written from bytes that were rendered once; the meaning of an answer is the core's
// (`FCMVerdicts`, `APNsVerdicts`). It does not retry, apart from what a new credential makes worth sending again, and
// knows nothing of jobs.
