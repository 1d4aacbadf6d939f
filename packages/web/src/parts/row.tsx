import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { formatUsd, readUsd, shorten } from '../amounts.ts'

/** A name and its value, in a list of rows. */
export function Row({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

/** An indicative value beside an amount. */
export function Usd({ text }: { text: string | undefined }) {
  const value = readUsd(text)
  return value === undefined ? null : <span class="unit fine">about {formatUsd(value)}</span>
}

type Props = { text: string; label: string; href?: string | undefined; whole?: boolean }

/** An address, hash or id: shortened on screen, copied in full, and a link if there is a target. */
export function Copyable({ text, label, href, whole = false }: Props) {
  const [isCopied, setCopied] = useState(false)
  // Pages without https, except on this machine, have no clipboard.
  const canCopy = 'clipboard' in navigator
  const copy = async () => {
    await navigator.clipboard.writeText(text)
    setCopied(true)
    setTimeout(() => setCopied(false), 1_500)
  }
  const shown = whole ? text : shorten(text)
  return (
    <span class="copyable">
      {href ? (
        <a class="mono" href={href} title={text} target="_blank" rel="noreferrer">
          {shown}
        </a>
      ) : (
        <span class="mono" title={text}>
          {shown}
        </span>
      )}
      {canCopy && (
        <button type="button" class="copy" onClick={copy} aria-label={`Copy ${label}`}>
          {isCopied ? 'Copied' : 'Copy'}
        </button>
      )}
    </span>
  )
}
