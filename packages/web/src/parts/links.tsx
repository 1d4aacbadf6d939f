import type { ComponentChildren } from 'preact'
import { go } from '../route.ts'
import { useSession } from '../service/session.ts'
import { Copyable } from './row.tsx'

type NavLinkProps = { href: string; isCurrent?: boolean; class?: string; children: ComponentChildren }

/** A link inside the page: a plain click changes the view, the browser handles any other click. */
export function NavLink({ href, isCurrent = false, children, ...rest }: NavLinkProps) {
  const follow = (event: MouseEvent) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return
    event.preventDefault()
    go(href)
  }
  return (
    <a {...rest} href={href} onClick={follow} aria-current={isCurrent ? 'page' : undefined}>
      {children}
    </a>
  )
}

type TxLinkProps = { hash: string; chainId: number | undefined; label: string }

/** A transaction, with a link to the block explorer if the operator configured one. */
export function TxLink({ hash, chainId, label }: TxLinkProps) {
  const { settings } = useSession()
  const place = chainId === undefined ? undefined : settings.txUrls[chainId]
  return <Copyable text={hash} label={label} href={place?.replace('{hash}', encodeURIComponent(hash))} />
}
