import { useMemo, useState } from 'preact/hooks'
import { Problem } from '../parts/notice.tsx'
import { SecretForm } from '../parts/secret-form.tsx'
import { Shell } from '../shell.tsx'
import { forget, keep, readSecret } from '../storage.ts'
import { createOperatorClient, explainOperator, isKeyRefused, usePolled } from './client.ts'
import { Dashboard } from './dashboard.tsx'

const NAME = 'operator-key'
const MENU = [{ name: 'operate', title: 'Operate' }]
const REFRESH_MS = 5_000

/** The page on the operator's listener. The key stays in the tab. */
export function OperateApp({ localKey }: { localKey: string | undefined }) {
  const [given, setGiven] = useState(() => readSecret<string>(NAME))
  const key = given ?? localKey
  const use = (next: string) => {
    keep(NAME, next)
    setGiven(next)
  }
  const leave = () => {
    forget(NAME)
    setGiven(undefined)
  }
  return (
    <Shell menu={MENU} onLeave={given === undefined ? undefined : leave}>
      {key === undefined ? (
        <OperatorKeyForm onKey={use} />
      ) : (
        <Watch key={key} operatorKey={key} onKey={use} />
      )}
    </Shell>
  )
}

function Watch({ operatorKey, onKey }: { operatorKey: string; onKey(key: string): void }) {
  const client = useMemo(() => createOperatorClient(operatorKey), [operatorKey])
  const { value: overview, error, refresh } = usePolled(client.overview, REFRESH_MS)
  if (isKeyRefused(error)) return <OperatorKeyForm onKey={onKey} error={error} />
  if (overview) return <Dashboard overview={overview} client={client} error={error} refresh={refresh} />
  if (error) return <Problem explained={explainOperator(error)} />
  return (
    <p class="loading" role="status">
      Loading the state of the service…
    </p>
  )
}

function OperatorKeyForm({ onKey, error }: { onKey(key: string): void; error?: unknown }) {
  return (
    <section class="card narrow">
      <h1>Operator key</h1>
      <p>One of GEOSWAP_OPERATOR_KEYS. It stays in this tab.</p>
      {error ? <Problem explained={explainOperator(error)} /> : null}
      <SecretForm label="Your operator key" onSecret={onKey} />
    </section>
  )
}
