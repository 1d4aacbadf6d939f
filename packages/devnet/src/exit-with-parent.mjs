import cluster from 'node:cluster'

/**
 * Preloaded into every child: when the supervisor is gone, killed with SIGKILL included, the channel to it
 * closes and the child ends itself. Nothing is worth a graceful stop then: the network it belonged to is over.
 */
process.once('disconnect', () => process.exit(1))
// The channel alone must not keep a child alive that has nothing left to do; but a member of a cluster gets its
// connections through it.
if (!cluster.isWorker) process.channel?.unref()
