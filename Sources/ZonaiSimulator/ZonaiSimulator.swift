// A local FCM (with its OAuth endpoint) and APNs that check what the real services check, for tests and demonstrations.
//
// It shares connections and frames with the transports and nothing else: what it knows of messages, tokens and answers
// is written here a second time on purpose, so that a mistake in one is not confirmed by the other.
// What it does not do well: topics of FCM (accepted, never fanned out), web push, channels and broadcasts of APNs.
