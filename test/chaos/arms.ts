import { armFailPoints } from '../../packages/service/src/fail-point.ts'

// Bundled with the service for a run, and only there: where the process is to end can change while it runs, so that
// not every process ends once at the same place.
process.on('message', (message: { arms?: string }) => {
  if (message.arms !== undefined) armFailPoints(message.arms)
})
process.channel?.unref()
