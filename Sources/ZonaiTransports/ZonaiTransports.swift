// FCM and APNs.
