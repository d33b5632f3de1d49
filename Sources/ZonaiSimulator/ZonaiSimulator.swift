// A local FCM and APNs that check what the real services check.
