import type { TemplateFault, TemplatePart } from '../../../application/ports/accept.ts';
import type { DispatchContent, RenderedMail, Variables } from '../../../domain/dispatch/content.ts';
import { Budget, type RenderLimits } from '../engine/budget.ts';
import { compile, type CompiledTemplate, pickValues, type Values } from '../engine/engine.ts';
import { RenderFault } from '../engine/render-fault.ts';
import type { Lookup } from './analyse.ts';
import { bodyText, headerText, unsubscribeUrl } from './mail-text.ts';

/** RFC 5322's longest line. */
const LONGEST_SUBJECT = 998;

/** All templates of a dispatch, compiled. */
export interface CompiledContent {
  readonly lookups: readonly Lookup[];
  /** Only rendering tells whether all names are there. */
  readonly dependsOnValues: boolean;
  /** Of what is in the mail whatever the values are, at most. */
  readonly staticBytes: number;
  valuesFor(own: Variables): Values;
  /** Renders what reaches a header. Throws a {@link RenderFault}. */
  headers(values: Values): Pick<RenderedMail, 'subject' | 'unsubscribeUrl'>;
  /** Renders the whole mail. Throws a {@link RenderFault}. */
  mail(values: Values): RenderedMail;
}

/** Thrown when a content's templates are not valid for anybody. */
export class InvalidContent extends Error {
  override readonly name = 'InvalidContent';
  readonly faults: readonly TemplateFault[];

  constructor(faults: readonly TemplateFault[]) {
    super(faults.map(({ part, rule }) => `${part}: ${rule}`).join(', '));
    this.faults = faults;
  }
}

/** Compiles the templates of a dispatch once, for all of its mails. Throws {@link InvalidContent}. */
export const compileContent = (content: DispatchContent, limits: RenderLimits): CompiledContent => {
  const { faults, subject, html, text, unsubscribe } = compileParts(content);
  if (faults.length > 0 || subject === undefined) throw new InvalidContent(faults);

  const templates = [subject, html, text, unsubscribe].filter((template) => template !== undefined);
  const names = namesOf(templates);

  const headers = (values: Values, budget: Budget): Pick<RenderedMail, 'subject' | 'unsubscribeUrl'> => ({
    subject: checkSubject(headerText(subject.render(values, budget))),
    ...(unsubscribe && { unsubscribeUrl: checkUrl(unsubscribe.render(values, budget)) }),
  });
  const whole = (values: Values, budget: Budget): RenderedMail => ({
    ...headers(values, budget),
    ...(html && { html: bodyText(html.render(values, budget)) }),
    ...(text && { text: bodyText(text.render(values, budget)) }),
  });

  return {
    lookups: templates.flatMap(({ analysis }) => analysis.lookups),
    dependsOnValues: templates.some(({ analysis }) => analysis.dependsOnValues),
    valuesFor: (own) => pickValues(names, own, content.variables),
    staticBytes: templates.reduce((sum, { analysis }) => sum + analysis.staticBytes, 0),
    headers: (values) => headers(values, new Budget(limits)),
    mail: (values) => whole(values, new Budget(limits)),
  };
};

const compileParts = ({ template, subject, unsubscribeUrl: unsubscribe }: DispatchContent) => {
  const faults: TemplateFault[] = [];
  const part = (name: TemplatePart, source: string | undefined, kind: 'html' | 'plain'): CompiledTemplate | undefined => {
    if (source === undefined || source === '') return undefined;
    const compiled = compile(source, kind);
    if (!('render' in compiled)) {
      faults.push({ part: name, ...compiled });
      return undefined;
    }
    for (const helper of compiled.analysis.unknownHelpers) faults.push({ part: name, rule: 'unknown-helper', name: helper });
    return compiled;
  };

  const subjectSource = subject ?? template.subject;
  if (subjectSource === '') faults.push({ part: 'subject', rule: 'no-subject' });
  if (!template.html && !template.text) faults.push({ part: 'html', rule: 'no-body' });
  return {
    faults,
    subject: part(subject === undefined ? 'subject' : 'subject-override', subjectSource, 'plain'),
    html: part('html', template.html, 'html'),
    text: part('text', template.text, 'plain'),
    unsubscribe: part('unsubscribe', unsubscribe, 'plain'),
  };
};

const namesOf = (templates: readonly CompiledTemplate[]): ReadonlySet<string> | undefined => {
  const names = new Set<string>();
  for (const { analysis } of templates) {
    if (analysis.names === undefined) return undefined;
    for (const name of analysis.names) names.add(name);
  }
  return names;
};

const checkSubject = (subject: string): string => {
  if (subject === '') throw new RenderFault('subject-empty');
  if (subject.length > LONGEST_SUBJECT) throw new RenderFault('subject-too-long');
  return subject;
};

const checkUrl = (text: string): string => {
  const url = unsubscribeUrl(text);
  if (url === undefined) throw new RenderFault('unsubscribe-url');
  return url;
};
