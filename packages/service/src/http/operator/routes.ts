import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import {
  type OperatorHours,
  OperatorOverview,
  OperatorPause,
  OperatorResume,
  OperatorResumeReply,
  OperatorSeries,
  OperatorSeriesQuery,
  OperatorStopReply,
} from '@geoswap/wire'

/** The operator API. `by` is the id of the caller's key. */
export type OperatorPort = {
  overview(): Promise<OperatorOverview>
  series(hours: OperatorHours): Promise<OperatorSeries>
  pause(pause: OperatorPause & { by: string }): Promise<{ id: string; isNew: boolean }>
  resume(resume: OperatorResume & { id: string; by: string }): Promise<{ id: string }>
}

export const operatorRoutes: FastifyPluginAsyncTypebox<{ port: OperatorPort }> = async (app, { port }) => {
  app.get('/operate/overview', { schema: { response: { 200: OperatorOverview } } }, () => port.overview())
  const series = { querystring: OperatorSeriesQuery, response: { 200: OperatorSeries } }
  app.get('/operate/series', { schema: series }, ({ query }) => port.series(query.hours ?? '24'))
  const pause = { body: OperatorPause, response: { 200: OperatorStopReply } }
  app.post('/operate/stops', { schema: pause }, ({ body, operator }) => port.pause({ ...body, by: operator }))
  const resume = { body: OperatorResume, response: { 200: OperatorResumeReply } }
  app.post('/operate/stops/:id/resume', { schema: resume }, ({ params, body, operator }) =>
    port.resume({ ...body, id: (params as { id: string }).id, by: operator }),
  )
}
