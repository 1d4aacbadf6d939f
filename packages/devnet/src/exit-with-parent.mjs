import cluster from 'node:cluster'

/**
 * Preloaded into every child. If the supervisor dies, even by SIGKILL, the channel to it closes and the child
 * exits. A graceful stop has no purpose then, since the network is gone.
 */
process.once('disconnect', () => process.exit(1))
// The channel alone must not keep an idle child alive. A member of a cluster, however, receives its
// connections through it.
if (!cluster.isWorker) process.channel?.unref()
