// HTTP/2 connections, frames and the loop that moves them; knows nothing of push.
